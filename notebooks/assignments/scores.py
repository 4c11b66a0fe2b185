"""Prints the scores that nbgrader keeps in FOLDER/gradebook.db: python scores.py FOLDER"""

import os
import sys

from nbgrader.api import Gradebook


def rows(gradebook, autograded):
    """One row for each submission: who, what, points of the checks, of the essay, what was missed."""
    for assignment in sorted(gradebook.assignments, key=lambda a: a.name):
        for submission in sorted(assignment.submissions, key=lambda s: s.student_id):
            if not os.path.exists(os.path.join(autograded, submission.student_id, assignment.name)):
                yield submission.student_id, assignment.name, "not graded", "", "nbgrader says why, above"
                continue
            grades = [g for n in submission.notebooks for g in n.grades]
            checks = [g for g in grades if g.cell.cell_type == "code"]
            essays = [g for g in grades if g.cell.cell_type != "code"]
            read = not any(g.needs_manual_grade for g in essays)
            yield (
                submission.student_id,
                assignment.name,
                f"{sum(g.score for g in checks):g} of {sum(g.max_score for g in checks):g}",
                f"{sum(g.score for g in essays):g}" if read else "to be read",
                " ".join(g.cell.name.removeprefix("check-") for g in checks if g.score < g.max_score),
            )


def table(rows):
    """The rows, aligned, under their headings."""
    lines = [("student", "assignment", "checks", "essay", "missed"), *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    return "\n".join("  ".join(f.ljust(w) for f, w in zip(line, widths)).rstrip() for line in lines)


if __name__ == "__main__":
    course = os.path.abspath(sys.argv[1])
    database = os.path.join(course, "gradebook.db")
    if not os.path.exists(database):
        sys.exit("course: nothing is graded yet; `make assignments` comes first")
    with Gradebook("sqlite:///" + database) as gradebook:
        found = list(rows(gradebook, os.path.join(course, "autograded")))
    print(table(found) if found else "course: no submission in submitted/STUDENT/ASSIGNMENT/")
