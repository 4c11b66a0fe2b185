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


def wide(html, tag="div"):
    """Returns what scrolls by itself where it is wider than the page, by keyboard too."""
    return f'<{tag} class="wide" tabindex="0">{html}</{tag}>'


class Renderer(IPythonRenderer):
    """Markdown to HTML, with formulas as MathML and links to notebooks as links to their pages."""

    def inline_math(self, body):
        return wide(convert(body), "span") if len(body) > 50 else convert(body)

    def block_math(self, body):
        return wide(convert(body, display="block"))

    def multiline_math(self, text):
        return self.block_math(text.strip("$"))

    def latex_environment(self, name, body):
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")

    def block_code(self, code, info=None):
        return super().block_code(code, info).replace("<pre", '<pre tabindex="0"', 1)

    def table(self, text):
        return wide(f"<table>{text}</table>")

    def link(self, text, url, title=None):
        path, dot, anchor = url.partition(".ipynb")
        if dot and "://" not in path:
            url = path + ".html" + anchor
        return super().link(text, url, title)


class Exporter(HTMLExporter):
    renderer = Renderer

    def __init__(self):
        super().__init__(template_file=str(Path(__file__).with_name("page.html.j2").resolve()))

    @pass_context
    def markdown2html(self, context, source):
        return MarkdownWithMath(self.renderer(escape=False, exclude_anchor_links=True)).render(source)

    def default_filters(self):
        yield from super().default_filters()
        yield "markdown2html", self.markdown2html
        yield "highlight_go", lambda source: highlight(source, GoLexer(), HtmlFormatter(cssclass="code")).replace("<pre", '<pre tabindex="0"', 1)
        yield "code_style", lambda style: HtmlFormatter(style=style).get_style_defs(".code")


def title(notebook):
    """Returns the first heading."""
    return next((c.source.splitlines()[0].lstrip("# ") for c in notebook.cells if c.source.startswith("# ")), "")


def export(notebook, page):
    """Writes the page of a notebook."""
    cells = nbformat.read(notebook, as_version=4)
    html, _ = Exporter().from_notebook_node(cells, {"title": title(cells) or notebook.stem})
    write(page, html)


def write(page, html):
    """Writes a page, whole or not at all."""
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
