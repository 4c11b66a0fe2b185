"""Writes the site in out/site, from what `make reproduce`, `make playground` and `make atlas-page` left in out: a start page, the executed
notebooks, the report, all figures, and the documentation. It asks nothing of any host.
"""

import base64, hashlib, json, os, re, shutil
from html import unescape
from pathlib import Path
from urllib.parse import unquote_to_bytes

import nbformat
from jinja2 import Environment, FileSystemLoader
from markupsafe import escape

import export

OUT, SITE = Path("out"), Path("out/site")
REPOSITORY = "https://" + re.search(r"(?m)^module (.*)$", Path("go.mod").read_text())[1]
BAR = [("index.html", "Roundoff"), ("report.html", "Report"), ("index.html#notebooks", "Notebooks"), ("figures.html", "Figures"),
       ("report.html#claims", "Claims"), ("index.html#documentation", "Documentation"), ("playground.html", "Playground"), ("atlas.html", "Atlas")]
ALONE = ["playground.html", "atlas.html"]  # pages that were made there, each in one file
VERDICTS = {"reproduced": "are reproduced", "differs": "differ", "cannot-be-tested": "cannot be tested here"}

# Where on the site the files of the repository are.
PAGES = {f"notebooks/{p.name}": f"notebooks/{p.stem}.html" for p in sorted(Path("notebooks").glob("*.ipynb"))}
PAGES |= {str(p): f"docs/{p.stem}.html" for p in sorted(Path("docs").glob("*.md"))}


def plain(text):
    """Returns text so that Markdown, and HTML in it, show it as it stands."""
    return re.sub(r"[^\w\s]|_", lambda sign: f"&#{ord(sign[0])};" if sign[0].isascii() else sign[0], " ".join(text.split()))


templates = Environment(loader=FileSystemLoader(Path(__file__).parent), keep_trailing_newline=True)
templates.filters["plain"] = plain


def bar(here, dark=True):
    """Returns what is on top of the page of that address, dark where it is dark around, unless the page never is."""
    return templates.get_template("bar.html.j2").render(bar=BAR, here=here, dark=dark, up="../" * here.count("/"))


def address(url, source):
    """Returns where, seen from its page, a file of the repository links to; in the repository if that is not on the site."""
    if "://" in url or url.startswith("#") or source not in PAGES:
        return url
    path, mark, anchor = url.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(source), path))
    if target in PAGES:
        return os.path.relpath(PAGES[target], os.path.dirname(PAGES[source])) + mark + anchor
    return f"{REPOSITORY}/blob/main/{target}{mark}{anchor}"


def anchor(heading, seen):
    """Returns the anchor that GitHub gives to a heading in HTML. Of equal ones on a page, which seen counts, all but the
    first are numbered."""
    name = re.sub(r"[^\w\- ]", "", unescape(re.sub(r"<.*?>", "", heading)).lower()).replace(" ", "-")
    seen[name] = seen.get(name, -1) + 1
    return f"{name}-{seen[name]}" if seen[name] else name


class Exporter(export.Exporter):
    """Writes Markdown or a notebook as one page of the site, with anchors at headings, as GitHub names them."""

    def __init__(self, source):
        super().__init__()
        seen = {}

        class Renderer(export.Renderer):
            def link(self, text, url, title=None):
                return super(export.Renderer, self).link(text, address(url, source), title)

            def heading(self, text, level, **attrs):
                return f'<h{level} id="{escape(anchor(text, seen))}">{text}</h{level}>\n'

        self.renderer = Renderer

    def page(self, notebook, here):
        """Writes the page of a notebook at an address of the site."""
        html, _ = self.from_notebook_node(notebook, {"title": export.title(notebook), "bar": bar(here)})
        publish(here, html)


def markdown(text, here, source=""):
    """Writes the page of a Markdown text."""
    Exporter(source).page(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)]), here)


files = {}  # of the site that pages share, by their hashes


def publish(here, html):
    """Writes a page, with the large things in it as files beside it, which pages share."""
    up = "../" * here.count("/")

    def file(data, extension):
        hashed = hashlib.sha256(data).hexdigest()
        if hashed not in files:
            files[hashed] = f"files/{hashed[:16]}.{extension}"
            (SITE / "files").mkdir(exist_ok=True)
            (SITE / files[hashed]).write_bytes(data)
        return up + files[hashed]

    def saved(link):
        attribute, kind, coding, data = link.groups()
        data = base64.b64decode(data) if coding else unquote_to_bytes(data)
        return f'{attribute}="{file(data, kind.split("/")[1].split("+")[0])}"'

    html = re.sub(r'\b(href|src)="data:([\w/+]+)(?:;charset=[\w-]+)?(;base64)?,([^"]{2000,})"', saved, html)
    html = re.sub(r"(?s)<script>((?:(?!</script>).){100000,}?)</script>",
                  lambda script: f'<script src="{file(script[1].encode(), "js")}"></script>', html)
    (SITE / here).parent.mkdir(exist_ok=True)
    export.write(SITE / here, html)


def barred(html, here):
    """Returns a page that was made elsewhere, with the bar on top."""
    if 'id="site-bar"' in html:
        return html
    top = bar(here, "prefers-color-scheme" in html)
    return re.sub(r"<body[^>]*>", lambda body: body[0] + top, html, count=1)


def figures(items):
    """Returns the records of all figures, in the order in which the notebooks show them, with their names in the paper
    where they are among its items."""
    records = [json.loads(p.read_text()) | {"interactive": p.with_suffix(".html").exists()} for p in OUT.glob("figures/*.json")]
    names = {i["figure"]: i["name"] for i in items}
    for r in records:
        r["item"] = names.get(r["name"])
    shown = [r for r in records if f"notebooks/{r['notebook']}.ipynb" in PAGES]
    return sorted(shown, key=lambda r: (r["notebook"], r["order"]))


def main():
    missing = [source for source in PAGES if source.startswith("notebooks/") and not (OUT / source).exists()]
    if missing:
        raise SystemExit(f"{', '.join(missing)}: not in {OUT}, make reproduce")
    for path in SITE.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in ALONE:
            path.unlink()
    shutil.copytree(OUT / "figures", SITE / "figures", ignore=shutil.ignore_patterns("*.json", "*.html"))
    shutil.copytree("notebooks", SITE / "notebooks", ignore=lambda folder, names: [n for n in names if not n.endswith(".ipynb")])
    shutil.copy(OUT / "claims.json", SITE)
    for path in SITE.glob("figures/*"):
        files[hashlib.sha256(path.read_bytes()).hexdigest()] = f"figures/{path.name}"
    for page in OUT.glob("figures/*.html"):
        html = page.read_text().replace('href="../index.html', 'href="../report.html')
        publish(f"figures/{page.name}", barred(html, f"figures/{page.name}"))
    for page in ALONE:
        publish(page, barred((SITE / page).read_text(), page))
    report = (OUT / "index.html").read_text().replace('href="html/', 'href="notebooks/').replace('href="site/', 'href="')
    export.write(SITE / "report.html", barred(report, "report.html"))

    answer = json.loads((OUT / "answer.json").read_text())
    known = {"figures": figures(answer["items"]), "notebooks": [], "docs": [], "verdicts": VERDICTS, "repository": REPOSITORY,
             "claims": json.loads((OUT / "claims.json").read_text()), "answer": answer["sentences"]}
    known["first"] = next(f for f in known["figures"] if f["name"] == "fig6-gemm-edf-symmetric")
    for source, here in PAGES.items():
        name, kind = Path(here).stem, Path(here).parent.name
        if kind == "notebooks":
            notebook = nbformat.read(OUT / source, as_version=4)
            question = re.search(r"(?s)\*\*Question\.\*\* (.*?)\n\n", notebook.cells[0].source + "\n\n")
            known[kind].append({"name": name, "title": export.title(notebook), "question": question[1]})
            Exporter(source).page(notebook, here)
        else:
            text = Path(source).read_text()
            known[kind].append({"name": name, "title": text.splitlines()[0].lstrip("# ")})
            markdown(text, here, source)
    for here, template in ("index.html", "start.md.j2"), ("figures.html", "figures.md.j2"):
        markdown(templates.get_template(template).render(known), here)
    all_files = [p for p in SITE.rglob("*") if p.is_file()]
    pages, size = sum(p.suffix == ".html" for p in all_files), sum(p.stat().st_size for p in all_files)
    print(f"{SITE}: {pages} pages, {len(all_files)} files, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
