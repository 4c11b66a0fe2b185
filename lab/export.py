"""Writes notebooks as HTML pages that ask nothing of any host: export.py FOLDER NOTEBOOK...

Formulas become MathML, which browsers draw themselves; the style is in page.html.j2, after the report's.
"""

import os, sys, tempfile
from pathlib import Path

import nbformat
from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import GoLexer


class Renderer(IPythonRenderer):
    """Markdown to HTML, with formulas as MathML and links to notebooks as links to their pages."""

    def inline_math(self, body):
        return convert(body)

    def block_math(self, body):
        return convert(body, display="block")

    def multiline_math(self, text):
        return convert(text.strip("$"), display="block")

    def latex_environment(self, name, body):
        return convert(rf"\begin{{{name}}}{body}\end{{{name}}}", display="block")

    def link(self, text, url, title=None):
        path, dot, anchor = url.partition(".ipynb")
        if dot and "://" not in path:
            url = path + ".html" + anchor
        return super().link(text, url, title)


class Exporter(HTMLExporter):
    def __init__(self):
        super().__init__(template_file=str(Path(__file__).with_name("page.html.j2").resolve()))

    @pass_context
    def markdown2html(self, context, source):
        return MarkdownWithMath(Renderer(escape=False, exclude_anchor_links=True)).render(source)

    def default_filters(self):
        yield from super().default_filters()
        yield "markdown2html", self.markdown2html
        yield "highlight_go", lambda source: highlight(source, GoLexer(), HtmlFormatter(cssclass="code"))
        yield "code_style", lambda style: HtmlFormatter(style=style).get_style_defs(".code")


def export(notebook, page):
    """Writes the page of a notebook, whole or not at all."""
    cells = nbformat.read(notebook, as_version=4)
    title = next((c.source.splitlines()[0].lstrip("# ") for c in cells.cells if c.source.startswith("# ")), notebook.stem)
    html, _ = Exporter().from_notebook_node(cells, {"title": title})
    with tempfile.NamedTemporaryFile("w", dir=page.parent, encoding="utf-8", delete=False) as file:
        file.write(html)
    os.chmod(file.name, 0o644)
    os.replace(file.name, page)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in map(Path, sys.argv[2:]):
        export(notebook, folder / (notebook.stem + ".html"))
    print(f"{len(sys.argv) - 2} pages in {folder}")
