"""Sphinx: the directive ``reweight-lab``.

    .. reweight-lab:: patch-test
       :kernel: 6.12
       :nice: low=10, high=0

The lab's files lie in ``_static/reweight-lab/``; the script is loaded on pages that have the directive.
Where a builder is not HTML, the directive's content stands in its place.
"""

import re
from html import escape

from docutils import nodes
from docutils.parsers.rst import Directive, directives

SCRIPT = "reweight-lab/reweight-lab.js"


class ReweightLab(Directive):
    """One lab; its content is shown until the lab is up."""

    optional_arguments = 1
    has_content = True
    option_spec = {name: directives.unchanged for name in ("kernel", "hz", "pi", "nice", "lang")}

    def run(self):
        attributes = {"preset": self.arguments[0]} if self.arguments else {}
        for name, value in self.options.items():
            if name != "nice":
                attributes[name] = value
                continue
            for pair in value.split(","):
                match = re.fullmatch(r"\s*([a-z_][\w.-]*)\s*=\s*(-?\d+)\s*", pair, re.IGNORECASE)
                if not match:
                    raise self.error(f"reweight-lab: nice: expected task=number, found {pair.strip()!r}")
                attributes[f"{match[1].lower()}-nice"] = match[2]
        text = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
        inner = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inner)
        opening = nodes.raw("", f"<reweight-lab{text}>", format="html")
        opening["reweight_lab"] = True
        return [opening, *inner.children, nodes.raw("", "</reweight-lab>", format="html")]


def add_script(app, pagename, templatename, context, doctree):
    """The script, only where there is a lab."""
    if doctree and any(node.get("reweight_lab") for node in doctree.findall(nodes.raw)):
        app.add_js_file(SCRIPT, type="module")


def setup(app):
    app.add_directive("reweight-lab", ReweightLab)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
