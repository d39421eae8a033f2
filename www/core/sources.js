/** Where claims about the patch come from: public archives, by message id or article. */
import { el } from "./dom.js";

/** @type {Record<string, { href: string, label: string }>} */
export const SOURCES = {
  patch: { href: "https://lore.kernel.org/lkml/20240403005930.1587032-1-qyousef@layalina.io/", label: "link-patch" },
  thread: { href: "https://lore.kernel.org/lkml/20240403005930.1587032-1-qyousef@layalina.io/T/", label: "story-thread" },
  lwn: { href: "https://lwn.net/Articles/1030842/", label: "link-lwn" },
};

/** The sources as links, for the holes of a sentence. @param {import("./words.js").Words} w @returns {Record<string, Node>} */
export function sources(w) {
  return Object.fromEntries(Object.entries(SOURCES).map(([name, s]) => [name, el("a", { href: s.href, target: "_blank", rel: "noopener noreferrer" }, w.t(s.label))]));
}
