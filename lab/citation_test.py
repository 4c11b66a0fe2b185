#!/usr/bin/env python3
"""Has validators read what names this software to those who cite and archive it, and the results of make reproduce, if
they are there, which are an RO-Crate. None of them asks a host; what would need one is said."""

import importlib.util
import io
import json
import re
import sys
import tempfile
import warnings
from importlib import resources
from pathlib import Path

import jsonschema
import pypandoc
import requests
import urllib3
import yaml
from eossr.metadata import codemeta
from packaging.version import Version
from rocrate_validator import models, services

import citation

ROOT = Path(__file__).resolve().parent.parent
# The context of RO-Crate, which the validator would ask w3id.org for.
CONTEXTS = {"https://w3id.org/ro/crate/1.3/context": resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()}
# Of a paper for the Journal of Open Source Software, as its editors ask since 2026.
SECTIONS = ["Summary", "Statement of need", "State of the field", "Software design", "Research impact statement", "AI usage disclosure", "Acknowledgements", "References"]


class Offline(requests.adapters.HTTPAdapter):
    """Answers with the documents of CONTEXTS, and no others."""

    def send(self, request, **_):
        if request.url not in CONTEXTS:
            raise requests.ConnectionError(f"{request.url} is not asked", request=request)
        document = io.BytesIO(CONTEXTS[request.url])
        raw = urllib3.HTTPResponse(document, {"Content-Type": "application/ld+json"}, 200, request_url=request.url, preload_content=False)
        return self.build_response(request, raw)


requests.adapters.HTTPAdapter.send = Offline.send
codemeta.files = lambda _: resources.files("eossr.metadata")  # files of a module that is no package fails before Python 3.12


def cff(text):
    """Validates as cffconvert does, whose own code imports a package that has no wheel."""
    schema = Path(importlib.util.find_spec("cffconvert").origin).parent / "schemas/1.2.0/schema.json"
    loaded = yaml.load(text, yaml.BaseLoader)  # dates stay texts, as the schema has them
    jsonschema.Draft7Validator(json.loads(schema.read_text()), format_checker=jsonschema.FormatChecker()).validate(loaded)


def code(metadata):
    with warnings.catch_warnings():  # of what is recommended, which is told below
        warnings.simplefilter("ignore")
        codemeta.Codemeta(metadata).validate()
    unknown = {"funder", "funding", "memoryRequirements", "storageRequirements"}  # nobody paid, nobody has measured
    lacking = set(codemeta.Codemeta(metadata).missing_keys("recommended")) - unknown
    assert not lacking, f"codemeta.json lacks {lacking}"


def crate(folder):
    """Returns what the validator has against a crate, of what is required."""
    settings = services.ValidationSettings(rocrate_uri=str(folder), requirement_severity=models.Severity.REQUIRED, no_cache=True)
    return [f"{i.check.identifier}: {i.message}" for i in services.validate(settings).get_issues()]


def paper(text):
    """Returns the paper as HTML, all its citations resolved."""
    return pypandoc.convert_text(text, "html", format="markdown", extra_args=["--citeproc", "--mathml", f"--bibliography={ROOT / 'paper.bib'}", "--fail-if-warnings"])


def refused(what, *arguments):
    try:
        what(*arguments)
    except Exception:
        return
    sys.exit(f"citation: {what.__name__} accepts what is broken")


def main():
    made = citation.made(ROOT)
    text = (ROOT / "CITATION.cff").read_text()
    cff(text)
    refused(cff, text.replace("license: BSD-3-Clause", "license: BSD-3"))
    version = yaml.safe_load(text)["version"]
    project = re.search(r'^version = "(.*)"$', (ROOT / "python/pyproject.toml").read_text(), re.MULTILINE)[1]
    assert Version(version) == Version(project), f"version: CITATION.cff has {version}, python/pyproject.toml {project}"
    print(f"CITATION.cff: the schema of cffconvert has nothing against it, version {version}")

    metadata = json.loads(made["codemeta.json"])
    code(metadata)
    refused(code, {**metadata, "lisence": ""})
    print("codemeta.json: eossr has nothing against it")

    # The schema that eossr has for .zenodo.json is on a host; what Zenodo asks of an upload is this.
    deposit = json.loads(made[".zenodo.json"])
    assert deposit["upload_type"] == "software" and deposit["title"] and deposit["description"] and deposit["creators"], deposit
    assert all(set(c) <= {"name", "affiliation", "orcid", "gnd"} and c["name"] for c in deposit["creators"]), deposit["creators"]
    print(".zenodo.json: what Zenodo requires is there; its schema was NOT ASKED, since it is on a host")

    html = paper(made["paper.md"])
    refused(paper, made["paper.md"] + "\n[@nobody2026]\n")
    headings = re.findall(r"^# (.*)$", made["paper.md"], re.MULTILINE)
    assert headings == SECTIONS, f"paper.md: sections {headings}, want {SECTIONS}"
    body = made["paper.md"].split("\n---\n", 1)[1]
    words = len(re.sub(r"\[@[^]]*\]|[#*`]", " ", body).split())
    assert 750 <= words <= 1750, f"paper.md: {words} words, want 750 to 1750"
    entries = set(re.findall(r"^@\w+\{(.*),$", (ROOT / "paper.bib").read_text(), re.MULTILINE))
    cited = set(re.findall(r"@([\w:-]+)", re.sub(r"`[^`]*`", "", body)))
    assert entries == cited, f"paper.bib: {entries ^ cited} are not both there and cited"
    shown = html.count('class="csl-entry"')
    assert shown == len(entries), f"paper.md: {shown} references of {len(entries)} are shown"
    print(f"paper.md: pandoc resolves {shown} references, {words} words")

    if not (ROOT / "out/ro-crate-metadata.json").exists():
        sys.exit("citation: there is no out/ro-crate-metadata.json, which make reproduce writes")
    found = crate(ROOT / "out")
    assert not found, found
    with tempfile.TemporaryDirectory() as folder:
        broken = json.loads((ROOT / "out/ro-crate-metadata.json").read_text())
        del broken["@graph"][1]["license"]
        broken["@graph"][1]["hasPart"], broken["@graph"] = [], broken["@graph"][:6]  # no files
        (Path(folder) / "ro-crate-metadata.json").write_text(json.dumps(broken))
        assert any("license" in one for one in crate(folder)), "citation: the validator of crates accepts what is broken"
    print("out: the validator of RO-Crates has nothing against it")


if __name__ == "__main__":
    main()
