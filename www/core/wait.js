/**
 * How long a task waits for its lock, ns: from when it first blocks until it has it; 0 when it never does.
 * @param {import("./types.js").Mark[]} marks of one run @param {string | undefined} task
 */
export function waitOf(marks, task) {
  const own = marks.filter((m) => m.task === task);
  const block = own.find((m) => m.kind === "block");
  const taken = own.find((m) => m.kind === "lock" && block !== undefined && m.at_ns >= block.at_ns);
  return block && taken ? taken.at_ns - block.at_ns : 0;
}
