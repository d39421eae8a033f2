#!/usr/bin/env python3
"""mdBook: a preprocessor for labs.

    {{#reweight-lab patch-test kernel=6.12 low-nice=10}}

A word without ``=`` is the preset; the others are attributes of the element. The lab's files lie in
``src/reweight-lab/``; the script's path fits the chapter's depth, and stands once in a chapter. A line with a
backslash before it is left to mdBook's own ``links``, which has to come later: ``before = ["links"]``.
Renderers other than HTML do not call this.
"""

import json
import re
import sys
from html import escape

SCRIPT = "reweight-lab/reweight-lab.classic.js"
LINE = re.compile(r"(\\?)\{\{#reweight-lab\b([^}]*)\}\}")
NAMES = re.compile(r"kernel|hz|pi|lang|layout|cpus-online|preset|[a-z_][\w.-]*-nice")


class Wrong(Exception):
    """One sentence about a line of a chapter."""


def element(words):
    """The element of a line's words."""
    attributes = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            name, value = "preset", word
        if not NAMES.fullmatch(name):
            raise Wrong(f"expected a preset or one of the element's attributes, found {word!r}")
        if name in attributes:
            raise Wrong(f"{name} stands twice")
        attributes[name] = value
    text = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<reweight-lab{text}></reweight-lab>"


def chapter(content, path):
    """A chapter's text with its labs. `path` is the chapter's, from the book's `src`."""
    script = f'<script src="{"../" * path.count("/")}{SCRIPT}"></script>\n'

    def put(match):
        nonlocal script
        if match[1]:
            return match[0]
        first, script = script, ""
        return first + element(match[2].split())

    try:
        return LINE.sub(put, content)
    except Wrong as wrong:
        raise Wrong(f"{path}: reweight-lab: {wrong}") from None


def walk(items):
    """Every chapter below, drafts left out: they have no file."""
    for item in items:
        inner = item.get("Chapter") if isinstance(item, dict) else None
        if inner is None:
            continue
        if inner.get("path"):
            inner["content"] = chapter(inner["content"], inner["path"].replace("\\", "/"))
        walk(inner["sub_items"])


def main():
    if sys.argv[1:2] == ["supports"]:
        return 0 if sys.argv[2] == "html" else 1
    _, book = json.load(sys.stdin)
    # `sections` until mdBook 0.4.
    walk(book["items"] if "items" in book else book["sections"])
    json.dump(book, sys.stdout)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(str(wrong))
