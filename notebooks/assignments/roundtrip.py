"""Releases the assignments, hands in made-up answers, grades them, and compares the scores with what
they must be. From the root of the repository, after lab/install.sh courses:

    .venv-courses/bin/python notebooks/assignments/roundtrip.py [few | ASSIGNMENT ...]

For every assignment five students hand in: "full" the instructor's solution, with a line on standard
error in every function; "stub" the release as it is; "wrong" a solution with one answer that compiles
and is wrong, and with every check emptied; "endless" one with an answer that never returns, and in one
assignment a cell of its own that does not either; "broken" one with an answer that does not compile.
With few only the first two in Go and the first in Python get all five, and the others "full" and "wrong".
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import psutil
from nbgrader.api import Gradebook

here = pathlib.Path(__file__).resolve().parent
course = here.parent.parent / "out" / "course"  # inside the repository, where the kernel finds its go.mod
mark = ("COURSE", str(course))  # in the environment of all that is started here

# Of each assignment: the answer that is spoilt, the text that is replaced in it, by what, and the
# checks that must then fail, of "wrong", "endless" and "broken".
spoilt = {
    "1-formats": {
        "wrong": ("round", "math.Abs(r) > f.Max()", "math.Abs(x) > f.Max()", {"check-round-overflow"}),
        "endless": ("first-gap", "return math", "for {\n\t}\n\treturn math", {"check-first-gap"}),
        "broken": ("worst", "f.Precision", "f.Accuracy", {"check-worst"}),
    },
    "2-summation": {
        "wrong": ("pairwise", "h := len(x) / 2", "h := (len(x) + 1) / 2", {"check-pairwise"}),
        "endless": ("compensated", "return add", "for {\n\t}\n\treturn add", {"check-compensated"}),
        "broken": ("probabilistic", "λ :=", "λ =", {"check-probabilistic", "check-growth"}),
    },
    "3-fma": {
        "wrong": ("backward-mac", "sum(d1, d2), product(d1, d2)", "d1, d2", {"check-backward-mac"}),
        "endless": ("cancellation", "u := f.UnitRoundoff()", "u := 1.0\n\tfor {\n\t}", {"check-cancellation"}),
        "broken": ("forward-bound", "math.Abs(c))", "math.Abs(c)", {"check-forward-bound"}),
    },
    "4-tensor-cores": {
        "wrong": ("truncation-constant", "0x1p-23", "0x1p-24", {"check-truncation-constant", "check-drift"}),
        "endless": ("fraction-bits", "return F", "F--", {"check-fraction-bits"}),
        "broken": ("violation", "return course", "retur course", {"check-violation"}),
    },
    "1-formats-python": {
        "wrong": ("round", "abs(r) > f.max", "abs(x) > f.max", {"check-round-overflow"}),
        "endless": ("first-gap", "return math", "while True:\n        pass\n    return math", {"check-first-gap"}),
        "broken": ("worst", "f.precision", "f.accuracy", {"check-worst"}),
    },
    "2-summation-python": {
        "wrong": ("pairwise", "h = len(x) // 2", "h = (len(x) + 1) // 2", {"check-pairwise"}),
        "endless": ("compensated", "return add", "while True:\n        pass\n    return add", {"check-compensated"}),
        "broken": ("probabilistic", "lam = course", "lam += course", {"check-probabilistic", "check-growth"}),
    },
    "3-fma-python": {
        "wrong": ("backward-mac", "d1 + d2 + d1 * d2", "d1 + d2", {"check-backward-mac"}),
        "endless": ("cancellation", "u = f.unit_roundoff", "u = 1.0\n    while True:\n        pass", {"check-cancellation"}),
        "broken": ("forward-bound", "abs(float(exact))", "abs(float(exact)", {"check-forward-bound"}),
    },
    "4-tensor-cores-python": {
        "wrong": ("truncation-constant", "2.0**-23", "2.0**-24", {"check-truncation-constant", "check-drift"}),
        "endless": ("fraction-bits", "return F", "F -= 1", {"check-fraction-bits"}),
        "broken": ("violation", "return course", "retur course", {"check-violation"}),
    },
}

# Of each language: how an answer begins in a source, a line of it that writes to standard error, and a cell that never ends.
spoken = {
    "go": ("// BEGIN SOLUTION", 'println("to standard error")', "%%\nfor {\n}"),
    "python": ("### BEGIN SOLUTION", '__import__("warnings").warn("to standard error")', "while True:\n    pass"),
}


def read(path):
    return json.loads(path.read_text())


def name(cell):
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def checks(notebook):
    """The points of every check of a notebook."""
    cells = (c for c in notebook["cells"] if c["cell_type"] == "code")
    return {name(c): c["metadata"]["nbgrader"]["points"] for c in cells if name(c).startswith("check-")}


def solved(source, release):
    """The release with the answers of the source filled in."""
    answers = {name(c): c["source"] for c in source["cells"] if c["metadata"].get("nbgrader", {}).get("solution")}
    notebook = json.loads(json.dumps(release))
    for cell in notebook["cells"]:
        cell["source"] = "".join(answers.get(name(cell), cell["source"]))
    return notebook


def answer(notebook, cell_name):
    return next(c for c in notebook["cells"] if name(c) == cell_name)


def hand_in(student, assignment, notebook):
    folder = course / "submitted" / student / assignment
    folder.mkdir(parents=True)
    (folder / f"{assignment}.ipynb").write_text(json.dumps(notebook))


def submissions(assignment):
    """What the five students hand in, and the checks that each must fail."""
    source = read(here / "source" / assignment / f"{assignment}.ipynb")
    release = read(course / "release" / assignment / f"{assignment}.ipynb")
    all_checks = set(checks(source))
    assert all_checks == set(checks(release)), "the release lacks checks"
    assert "BEGIN" not in json.dumps(release), "the release holds solutions or hidden tests"

    begin, loud, loop = spoken[source["metadata"]["kernelspec"]["language"]]
    full = solved(source, release)
    for cell in full["cells"]:
        cell["source"] = cell["source"].replace(begin, loud)
    assert "to standard error" in json.dumps(full)
    yield "full", full, set()
    yield "stub", release, all_checks
    for student, (spoilt_answer, old, new, failing) in spoilt[assignment].items():
        notebook = solved(source, release)
        cell = answer(notebook, spoilt_answer)
        assert cell["source"].count(old) == 1, f"{assignment}: not one {old!r} in {spoilt_answer}"
        cell["source"] = cell["source"].replace(old, new)
        for c in notebook["cells"]:
            if student == "wrong" and name(c).startswith("check-"):
                c["source"] = ""
        if student == "endless" and assignment.startswith("2-"):
            cell = {"cell_type": "code", "id": "endless", "metadata": {}, "source": loop}
            notebook["cells"].insert(8, cell | {"execution_count": None, "outputs": []})
        yield student, notebook, failing


def end_all(mark):
    """Kills what is left of the processes with this variable and value in their environment."""
    for process in psutil.process_iter():
        try:
            if mark in process.environ().items():
                process.kill()
        except psutil.Error:  # it has ended, or is another person's
            pass


def course_sh(*arguments):
    subprocess.run([here / "course.sh", *arguments], check=True, env=os.environ | dict([mark]))


def outputs(student, assignment):
    """All that the cells of a graded submission showed, as JSON."""
    graded = read(course / "autograded" / student / assignment / f"{assignment}.ipynb")
    return json.dumps([c["outputs"] for c in graded["cells"] if c["cell_type"] == "code"])


def students(assignment, few):
    """Those who hand in an assignment."""
    return {"full", "wrong"} if few and assignment not in ("1-formats", "2-summation", "1-formats-python") else {"full", "stub", *spoilt[assignment]}


def main(named):
    few = named == ["few"]
    assignments = sorted(spoilt) if few else named or sorted(spoilt)
    shutil.rmtree(course, ignore_errors=True)
    course.mkdir(parents=True)
    course_sh("release")
    want = {}
    for assignment in assignments:
        for student, notebook, failing in submissions(assignment):
            if student not in students(assignment, few):
                continue
            hand_in(student, assignment, notebook)
            points = checks(notebook)
            want[student, assignment] = {c: 0 if c in failing else p for c, p in points.items()}
    start = time.monotonic()
    course_sh("grade", "--seconds=90")  # of a machine that may have more to do: Go compiles each cell
    print(f"roundtrip: {len(want)} submissions graded in {time.monotonic() - start:.0f} s")

    wrong = 0
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        for (student, assignment), scores in want.items():
            submission = gradebook.find_submission(assignment, student)
            grades = [g for n in submission.notebooks for g in n.grades]
            got = {g.cell.name: g.auto_score for g in grades if g.cell.cell_type == "code"}
            essay = [g.needs_manual_grade for g in grades if g.cell.cell_type != "code"]
            shown = outputs(student, assignment)
            assert student != "stub" or "not implemented" in shown, "why a check failed is not kept"
            assert student != "endless" or "has not returned after" in shown, "no check ran into an endless loop"
            if got != scores or essay != [student != "stub"]:
                wrong += 1
                print(f"roundtrip: {student} in {assignment}: got {got}, want {scores}; essays to be read: {essay}")
    if wrong:
        sys.exit(f"roundtrip: {wrong} of {len(want)} submissions have the wrong score")
    print(f"roundtrip: {len(want)} submissions have the right score")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("roundtrip: terminated"))
    try:
        main(sys.argv[1:])
    finally:
        end_all(mark)  # when it was told to stop: nbgrader leaves its kernels
