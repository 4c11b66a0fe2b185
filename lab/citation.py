#!/usr/bin/env python3
"""Makes of CITATION.cff what archives and journals read, .zenodo.json, codemeta.json and the head of paper.md, and with
--check says which of them is not what it makes."""

import datetime
import json
import sys
from pathlib import Path

import yaml


def names(citation):
    """Returns the given and the family name of each author; one that is no person has no given name."""
    return [(a.get("given-names", ""), a.get("family-names") or a["name"]) for a in citation["authors"]]


def arxiv(citation):
    """Returns the identifiers of what the software reproduces, without arXiv: before them."""
    return [i["value"].removeprefix("arXiv:") for r in citation["references"] for i in r["identifiers"] if i["value"].startswith("arXiv:")]


def zenodo(citation):
    creators = []
    for author, (given, family) in zip(citation["authors"], names(citation)):
        creator = {"name": f"{family}, {given}" if given else family}
        if "affiliation" in author:
            creator["affiliation"] = author["affiliation"]
        if "orcid" in author:
            creator["orcid"] = author["orcid"].rsplit("/", 1)[-1]
        creators.append(creator)
    return {
        "title": citation["title"],
        "upload_type": "software",
        "description": citation["abstract"],
        "creators": creators,
        "access_right": "open",
        "license": citation["license"],
        "keywords": citation["keywords"],
        "version": citation["version"],
        "publication_date": str(citation["date-released"]),
        "related_identifiers": [{"identifier": "arXiv:" + i, "relation": "references", "scheme": "arxiv"} for i in arxiv(citation)],
    }


def codemeta(citation):
    code = citation["repository-code"]
    authors = []
    for author, (given, family) in zip(citation["authors"], names(citation)):
        person = {"@type": "Person", "givenName": given, "familyName": family} if given else {"@type": "Organization", "name": family}
        if "orcid" in author:
            person["@id"] = author["orcid"]
        if "affiliation" in author:
            person["affiliation"] = {"@type": "Organization", "name": author["affiliation"]}
        authors.append(person)
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": citation["title"],
        "description": citation["abstract"],
        "author": authors,
        "maintainer": authors,
        "copyrightHolder": authors,
        "license": "https://spdx.org/licenses/" + citation["license"],
        "version": citation["version"],
        "softwareVersion": citation["version"],
        "datePublished": str(citation["date-released"]),
        "keywords": citation["keywords"],
        "identifier": "https://doi.org/" + citation["doi"] if "doi" in citation else code,
        "codeRepository": code,
        "issueTracker": code + "/issues",
        "readme": code + "/blob/main/README.md",
        "releaseNotes": code + "/blob/main/CHANGELOG.md",
        "continuousIntegration": code + "/actions",
        "developmentStatus": "active",
        "programmingLanguage": ["Go", "Python", "C"],
        "operatingSystem": ["Linux", "macOS", "Windows"],
        "softwareRequirements": ["Go 1.26", "a C compiler", "git", "make"],
        "processorRequirements": "amd64 or arm64",
        "referencePublication": [{"@type": "ScholarlyArticle", "name": r["title"], "identifier": i["value"]} for r in citation["references"] for i in r["identifiers"]],
    }


def head(citation):
    """Returns the head of paper.md, without its last line."""
    places = list(dict.fromkeys(a.get("affiliation", "To be supplied") for a in citation["authors"]))
    authors = []
    for author, (given, family) in zip(citation["authors"], names(citation)):
        one = {"name": f"{given} {family}".strip(), "affiliation": places.index(author.get("affiliation", "To be supplied")) + 1}
        if "orcid" in author:
            one["orcid"] = author["orcid"].rsplit("/", 1)[-1]
        authors.append(one)
    day = datetime.date.fromisoformat(str(citation["date-released"]))
    return "---\n" + yaml.safe_dump(
        {
            "title": citation["title"],
            "tags": ["Go", "Python", *citation["keywords"]],
            "authors": authors,
            "affiliations": [{"name": name, "index": i + 1} for i, name in enumerate(places)],
            "date": f"{day.day} {day:%B %Y}",
            "bibliography": "paper.bib",
        },
        sort_keys=False, allow_unicode=True, width=1000,
    )


def made(root):
    """Returns the files that are made of CITATION.cff, by name."""
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    paper = (root / "paper.md").read_text()
    text = paper.split("\n---\n", 1)[1]
    as_json = {name: json.dumps(what(citation), indent=2, ensure_ascii=False) + "\n" for name, what in ((".zenodo.json", zenodo), ("codemeta.json", codemeta))}
    return {**as_json, "paper.md": head(citation) + "---\n" + text}


def main():
    root = Path(__file__).resolve().parent.parent
    check = sys.argv[1:] == ["--check"]
    other = [name for name, text in made(root).items() if not (root / name).exists() or (root / name).read_text() != text]
    if check and other:
        sys.exit(f"citation: {', '.join(other)}: not what CITATION.cff says, make citation writes them")
    if not check:
        for name, text in made(root).items():
            new = root / (name + ".new")
            new.write_text(text)
            new.replace(root / name)


if __name__ == "__main__":
    main()
