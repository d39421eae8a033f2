// The page for frames: its address is its start state, and it speaks by messages, with the page around it only.
import { createServer } from "node:http";
import { expect, settled, test } from "./lab.mjs";

/**
 * A page of another origin with the lab in a frame; what the frame says is kept in `heard`.
 * @param {import("@playwright/test").Page} page @param {string} lab the frame's address @param {(port: number) => string} [query]
 */
async function around(page, lab, query = () => "") {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    response.end(`<!doctype html><title>Around</title><link rel="icon" href="data:,">
<script>heard = []; addEventListener("message", (e) => heard.push({ ...e.data, origin: e.origin }))</script>
<iframe src="${lab}${query(port)}" width="900" height="600"></iframe>`);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await page.goto(`http://127.0.0.1:${port}/`);
  return {
    port,
    stop: () => server.close(),
    /** @param {unknown} message */
    send: (message) => page.evaluate((m) => /** @type {any} */ (window).frames[0].postMessage(m, "*"), message),
    /** @returns {Promise<any[]>} */
    heard: () => page.evaluate(() => /** @type {any} */ (window).heard),
    /** The first message of that form. @param {Record<string, unknown>} like @returns {Promise<any>} */
    async wait(like) {
      const found = await page.waitForFunction((l) => /** @type {any} */ (window).heard.find((/** @type {any} */ m) => Object.entries(l).every(([k, v]) => m[k] === v)), like);
      return found.jsonValue();
    },
  };
}

const boosted = (/** @type {any} */ state, /** @type {number} */ row) => state.runs[row].windows.find((/** @type {any} */ w) => w.name === "boosted").tasks.low.share;

test("the frame tells ready and its height, takes commands, and replies with their ids", async ({ page, baseURL }) => {
  const frame = await around(page, `${baseURL}embed.html`, (port) => `?low-nice=5&origin=http://127.0.0.1:${port}`);
  const ready = await frame.wait({ source: "reweight-lab", type: "ready" });
  expect(boosted(ready.state, 0)).toBeCloseTo(0.2465, 2);
  const { height } = await frame.wait({ type: "resize" });
  expect(height).toBeGreaterThan(200);
  await frame.send({ target: "reweight-lab", id: "one", command: "setNice", args: ["low", 10] });
  const reply = await frame.wait({ type: "reply", id: "one" });
  expect(reply.ok).toBe(true);
  expect(boosted(reply.state, 0)).toBeCloseTo(0.097, 3);
  await frame.wait({ type: "state" });
  await frame.send({ target: "reweight-lab", id: 2, command: "seek", args: [1.5e9] });
  expect((await frame.wait({ type: "reply", id: 2 })).state.time_ns).toBe(1.5e9);
  await frame.send({ target: "reweight-lab", id: "rest", command: "settled" });
  expect((await frame.wait({ type: "reply", id: "rest" })).state.time_ns).toBe(1.5e9);
  expect(await page.frames()[1].locator("[data-control=time]").getAttribute("aria-valuenow")).toBe("1500");
  await frame.send({ target: "reweight-lab", id: 3, command: "workload" });
  expect(JSON.parse((await frame.wait({ type: "reply", id: 3 })).result).tasks.low).toBeTruthy();
  frame.stop();
});

test("what the model refuses is a reply; what is no command is left alone", async ({ page, baseURL }) => {
  const frame = await around(page, `${baseURL}embed.html`);
  await frame.wait({ type: "ready" });
  const before = (await frame.heard()).length;
  for (const stray of [
    null, 7, "play", [], {}, { target: "other", command: "play" }, { target: "reweight-lab" }, { target: "reweight-lab", command: 5 },
    { target: "reweight-lab", command: "constructor" }, { target: "reweight-lab", command: "__proto__", args: [] }, { target: "reweight-lab", command: "remove", id: 1 },
    { target: "reweight-lab", command: "play", args: "x", id: 1 }, { target: "reweight-lab", command: "play", id: {} },
  ]) await frame.send(stray);
  await frame.send({ target: "reweight-lab", id: "nice", command: "setNice", args: ["<img src=x onerror=alert(1)>", 5] });
  const refused = await frame.wait({ type: "reply", id: "nice" });
  expect(refused.ok).toBe(false);
  expect(refused.message.length).toBeGreaterThan(10);
  await frame.send({ target: "reweight-lab", id: "args", command: "seek", args: ["soon"] });
  expect((await frame.wait({ type: "reply", id: "args" })).message).toContain("expected number");
  await frame.send({ target: "reweight-lab", id: "load", command: "load", args: [{ tasks: { "<b>x</b>": { loop: 1, run: 5 } } }] });
  await frame.wait({ type: "reply", id: "load" });
  const inside = page.frames()[1];
  expect(await inside.evaluate(() => [...(document.querySelector("reweight-lab")?.shadowRoot?.querySelectorAll("img, script") ?? [])].length)).toBe(0);
  // Strays got no answer: only the three above, and what they changed.
  const replies = (await frame.heard()).slice(before).filter((m) => m.type === "reply").map((m) => m.id);
  expect(replies).toEqual(["nice", "args", "load"]);
  frame.stop();
});

test("a page that is not the one named hears nothing and is not obeyed", async ({ page, baseURL }) => {
  const frame = await around(page, `${baseURL}embed.html`, () => "?origin=https://example.invalid");
  const inside = /** @type {import("@playwright/test").Frame} */ (await page.waitForSelector("iframe").then((f) => f.contentFrame()));
  await settled(inside);
  await frame.send({ target: "reweight-lab", id: 1, command: "seek", args: [1e9] });
  // Messages come in their order: when the frame has this one it has had the command, and we have all that it said.
  await inside.evaluate(() => new Promise((done) => {
    addEventListener("message", (e) => e.data === "last" && done(null));
    window.postMessage("last", "*");
  }));
  await settled(inside);
  await inside.evaluate(() => parent.postMessage({ type: "last" }, "*"));
  await frame.wait({ type: "last" });
  expect(await inside.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).timeNs)).not.toBe(1e9);
  expect((await frame.heard()).map((m) => m.type)).toEqual(["last"]);
  frame.stop();
});

test("a frame that cannot start says why, and answers what it is asked", async ({ page, baseURL }) => {
  await page.route("**/*.wasm", (route) => route.fulfill({ status: 200, contentType: "text/html", body: "<!doctype html>" }));
  const frame = await around(page, `${baseURL}embed.html`);
  const error = await frame.wait({ type: "error" });
  expect(error.cause).toBe("mime");
  expect(error.message).toContain("text/html");
  for (const command of ["play", "settled"]) {
    await frame.send({ target: "reweight-lab", id: command, command });
    expect(await frame.wait({ type: "reply", id: command })).toMatchObject({ ok: false, message: error.message });
  }
  frame.stop();
});
