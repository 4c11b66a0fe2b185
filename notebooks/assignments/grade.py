"""Grades what is in FOLDER/submitted, every submission by itself, and prints a table of all that was
handed in:

    python grade.py FOLDER [--force] [--student=STUDENT] [--assignment=ASSIGNMENT] [--seconds=60]

What was graded before is graded again with --force, and where something else was handed in. Exits with 1
if something was not graded, with 75 if nothing can be graded on this machine.
"""

import argparse
import json
import pathlib
import re
import shutil
import signal
import stat
import sys
import warnings

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config.loader import PyFileConfigLoader

import examination
import sandbox
from sqlalchemy.exc import SAWarning

warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own queries

here = pathlib.Path(__file__).resolve().parent
largest = 16 << 20  # bytes of a notebook
most = 1000  # cells


class Refused(Exception):
    """A submission cannot be graded, for the reason given."""


def read(path):
    """The notebook in a file that a student handed in, as far as a notebook's JSON goes."""
    try:
        status = path.lstat()
    except OSError:
        raise Refused(f"there is no {path.name}") from None
    if not stat.S_ISREG(status.st_mode):
        raise Refused(f"{path.name} is no file")
    if status.st_size > largest:
        raise Refused(f"{path.name} has {status.st_size >> 20} MB, more than {largest >> 20}")
    try:
        notebook = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise Refused(f"{path.name} is not a notebook") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or notebook.get("nbformat") != 4:
        raise Refused(f"{path.name} is not a notebook of format 4")
    if len(cells) > most:
        raise Refused(f"{path.name} has {len(cells)} cells, more than {most}")
    return notebook


def repaired(notebook, release):
    """The notebook with what counts of it: cells of text and code, and of their metadata the names of the
    release, each once. Of several cells with one name, as JupyterLab makes them when a cell is copied, the
    last counts that is not as it was released."""
    released = {}
    for cell in release["cells"]:
        grader = cell["metadata"].get("nbgrader")
        if grader:
            released[grader["grade_id"]] = cell
    cells, named = [], {}
    for said in notebook["cells"]:
        if not isinstance(said, dict) or said.get("cell_type") not in ("code", "markdown"):
            continue
        kind = said["cell_type"]
        source = examination.text(said.get("source")).encode(errors="replace").decode()
        cell = {"cell_type": kind, "metadata": {}, "source": source}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
        metadata = said.get("metadata") if isinstance(said.get("metadata"), dict) else {}
        grader = metadata.get("nbgrader") if isinstance(metadata.get("nbgrader"), dict) else {}
        name = grader.get("grade_id")
        if isinstance(name, str) and name in released and released[name]["cell_type"] == kind:
            untouched = source == examination.text(released[name]["source"])
            if name not in named or not untouched:
                named[name] = cell
    for name, cell in named.items():
        grader = released[name]["metadata"]["nbgrader"]
        cell["metadata"] = {"nbgrader": grader}
        if grader["locked"]:
            cell["source"] = examination.text(released[name]["source"])
    return {"cells": cells, "metadata": release["metadata"], "nbformat": 4, "nbformat_minor": 4}


class Course:
    """A folder with what was handed in, and what came of it."""

    def __init__(self, folder, seconds):
        self.folder = pathlib.Path(folder).resolve()
        self.assignments = sorted(p.name for p in (here / "source").iterdir() if p.is_dir())
        config = PyFileConfigLoader("nbgrader_config.py", path=str(here)).load_config()
        config.CourseDirectory.root = str(self.folder)
        config.CourseDirectory.source_directory = str(here / "source")
        config.Examine.seconds = self.seconds = seconds
        self.api = NbGraderAPI(config=config)
        self.log = self.folder / "nbgrader.log"

    def submissions(self):
        """Every student and what is in the student's folder, the folders of assignments or not."""
        submitted = self.folder / "submitted"
        for student in sorted(submitted.iterdir()) if submitted.is_dir() else []:
            if student.is_dir() and not student.is_symlink():
                for thing in sorted(student.iterdir()):
                    yield student.name, thing.name
            else:
                yield student.name, ""

    def take(self, student, assignment, force):
        """Takes a submission over, and has it examined if it is to be graded, which is returned. It raises
        Refused."""
        if assignment not in self.assignments:
            raise Refused(f"no assignment, want {' or '.join(self.assignments)}" if assignment else "no folder of a student")
        name = f"{assignment}.ipynb"
        folder = self.folder / "submitted" / student / assignment
        if folder.is_symlink():
            raise Refused("no folder, but a link to one")
        notebook = read(folder / name)
        release = json.loads((self.folder / "release" / assignment / name).read_text())
        source = json.loads((here / "source" / assignment / name).read_text())
        taken = self.folder / "taken" / student / assignment / name
        notebook = repaired(notebook, release)
        text = json.dumps(notebook, indent=1)
        if not force and self.graded(student, assignment).exists() and taken.exists() and taken.read_text() == text:
            return False
        shutil.rmtree(taken.parent, ignore_errors=True)
        taken.parent.mkdir(parents=True)
        taken.write_text(text)
        examination.beforehand.start(notebook, source, self.seconds)
        return True

    def graded(self, student, assignment):
        return self.folder / "autograded" / student / assignment / f"{assignment}.ipynb"

    def grade(self, student, assignment):
        """Grades a submission that was taken over, or raises Refused."""
        result = self.api.autograde(assignment, student, force=True)
        with open(self.log, "a") as log:
            log.write(result.get("log", "") + result.get("error", ""))
        if not result["success"] or not self.graded(student, assignment).exists():
            if "KeyboardInterrupt" in result.get("error", ""):
                raise KeyboardInterrupt
            lines = [line for line in (result.get("log", "") + result.get("error", "")).splitlines() if line.strip()]
            raise Refused(f"nbgrader failed ({self.log.name} has the details): " + (lines or ["it does not say why"])[-1].strip())

    def row(self, student, assignment, gradebook):
        """The points of the checks, of the essay, and what was missed."""
        submission = gradebook.find_submission(assignment, student)
        grades = [g for n in submission.notebooks for g in n.grades]
        for g in grades:
            if g.auto_score is not None and not 0 <= g.auto_score <= g.max_score:
                raise Refused(f"{g.cell.name} has {g.auto_score:g} points of {g.max_score:g}")
        checks = [g for g in grades if g.cell.cell_type == "code"]
        essays = [g for g in grades if g.cell.cell_type != "code"]
        unread = any(g.needs_manual_grade for g in essays)
        return (f"{sum(g.score for g in checks):g} of {sum(g.max_score for g in checks):g}",
                "to be read" if unread else f"{sum(g.score for g in essays):g}",
                " ".join(g.cell.name.removeprefix("check-") for g in checks if g.score < g.max_score))


def table(rows):
    """The rows, aligned, under their headings."""
    printable = [[re.sub(r"[^\w !-~¡-￮]", "\N{REPLACEMENT CHARACTER}", field) for field in row] for row in rows]
    lines = [("student", "assignment", "checks", "essay", "missed"), *printable]
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    return "\n".join("  ".join(f.ljust(w) for f, w in zip(line, widths)).rstrip() for line in lines)


def main():
    parser = argparse.ArgumentParser(prog="grade.py")
    parser.add_argument("folder")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--student")
    parser.add_argument("--assignment")
    parser.add_argument("--seconds", type=int, default=60, help="how long a cell may take, 60 s if it is not said")
    flags = parser.parse_args()
    try:
        examination.room()
    except sandbox.Missing as e:
        print(f"course: {e}", file=sys.stderr)
        sys.exit(75)
    course = Course(flags.folder, flags.seconds)
    if not (course.folder / "release").is_dir() or not (course.folder / "gradebook.db").exists():
        sys.exit("course: nothing is released yet; `make assignments` comes first")
    course.log.write_text("")
    taken, rows, failed = [], [], False
    for student, assignment in course.submissions():
        if flags.student not in (None, student) or flags.assignment not in (None, assignment):
            continue
        try:
            taken.append((student, assignment, course.take(student, assignment, flags.force), ""))
        except (Refused, OSError) as e:
            taken.append((student, assignment, False, str(e)))
    for student, assignment, new, refused in taken:
        try:
            if refused:
                raise Refused(refused)
            if new:
                course.grade(student, assignment)
            with Gradebook(f"sqlite:///{course.folder}/gradebook.db") as gradebook:
                row = course.row(student, assignment, gradebook)
        except (Refused, OSError) as e:
            failed, row = True, ("not graded", "", str(e))
        rows.append((student, assignment, *row))
    if not rows:
        sys.exit("course: no submission in submitted/STUDENT/ASSIGNMENT/")
    print(table(rows))
    sys.exit(failed)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        examination.beforehand.end()
        print("course: interrupted", file=sys.stderr)
        sys.exit(130)
