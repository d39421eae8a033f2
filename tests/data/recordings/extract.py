#!/usr/bin/env python3
"""extract.py RECORDINGS - what tests/recordings_own.rs needs of the kernel recordings, as
measured/CONFIGURATION.json.gz beside this file. RECORDINGS is the folder that holds the
recorded configurations, one folder each.

Of every scenario: t0 (ns of the kernel's clock at the scenario's start), how often each task took
a lock, and who took which lock in which order, as far as the recording goes. Of looped scenarios:
who followed whom as owner, counted over the whole run. Of the scenarios in OWN, and of all of
two-CPU machines, also the shares in every window with weights and prios at its end. Of custom
slices how long `low` runs in one go."""
import collections
import gzip
import json
import pathlib
import re
import sys

OWN = {"plain_after_pi", "robust_death", "slice_low_5ms", "slice_low_03ms", "smp_high_cpu1"}


def stints(data, trace):
    """How long `low` runs in one go, in ticks of 1 ms, by window: the lengths seen twice or more."""
    t0 = data["t0_mono_ns"] // 1000
    low = next(t["tid"] for t in data["tasks"] if t["name"] == "low")
    switches = []
    for line in gzip.open(trace, "rt"):
        found = re.search(r" (\d+)\.(\d{6}): sched_switch: .*next_pid=(\d+)", line)
        if found:
            s, us, pid = map(int, found.groups())
            switches.append((s * 1_000_000 + us - t0, pid))
    lengths = {}
    for name, since, until in (("A", 4_200_000, 4_480_000), ("B", 5_000_000, 5_200_000)):
        count = collections.Counter(
            round((b - a) / 1000)
            for (a, pid), (b, _) in zip(switches, switches[1:])
            if pid == low and since <= a and b <= until
        )
        lengths[name] = sorted(n for n, times in count.items() if times > 1)
    return lengths


def scenario(data, windows):
    found = {"t0": data["t0_mono_ns"]}
    found["locks"] = {t["name"]: t["nlock"] for t in data["tasks"] if t["nlock"]}
    if "owner_follows" in data:
        found["follows"] = data["owner_follows"]
    order = []
    asked = {}
    timed = 0
    for e in data["events"]:
        if e["ev"] == "timedlock":
            asked[e["task"]] = e["v"]
        elif e["ev"] == "timedlock_ret" and e["v"] == 0:
            order.append([e["task"], asked[e["task"]]])
            timed += 1
        elif e["ev"] == "locked":
            order.append([e["task"], e["v"]])
    found["order"] = order
    # The recorder kept the first 160 events of a scenario: of looped ones it does not tell all.
    found["whole"] = len(order) - timed == sum(found["locks"].values())
    if windows:
        found["windows"] = {
            p["name"]: {
                "share": p["share"],
                "end": {n: [int(w["weight"]), w["prio"]] for n, w in p["w_end"].items()},
            }
            for p in data["phases"]
        }
    return found


def main():
    recordings = pathlib.Path(sys.argv[1])
    out = pathlib.Path(__file__).parent / "measured"
    out.mkdir(exist_ok=True)
    for folder in sorted(p for p in recordings.iterdir() if p.is_dir()):
        files = [f for f in folder.glob("*.json") if not f.name.startswith("_")]
        if not files or folder.name in ("workloads", "expected"):
            continue
        scenarios = {}
        for file in sorted(files):
            data = json.loads(file.read_text())
            smp = "smp2" in folder.name
            scenarios[file.stem] = scenario(data, file.stem in OWN or smp)
            if file.stem.startswith("slice_"):
                trace = file.with_suffix(".trace.txt.gz")
                scenarios[file.stem]["stints"] = stints(data, trace)
        first = json.loads(files[0].read_text())
        whole = {
            "kernel": ".".join(first["kernel"].split(".")[:2]),
            "hz": first["params"]["hz"],
            "cpus_online": first["params"]["cpus"],
            "pi": first["toggle"],
            "scenarios": scenarios,
        }
        text = json.dumps(whole, separators=(",", ":"), sort_keys=True).encode()
        (out / f"{folder.name}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
