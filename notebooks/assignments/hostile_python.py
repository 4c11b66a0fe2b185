"""What careless and dishonest students hand in of assignment 1 in Python, for crowd.py, beside what hostile.py makes of it in Go:
what a function of Python can return, raise and change that one of Go cannot.
"""

import copy

from hostile import Desk, Submission, everything, name_of, nothing

assignment = "1-formats-python"
stub = 'raise NotImplementedError("not implemented")'


def submission(notebook, points):
    return Submission(notebook, points, name=assignment)


# Dishonest: what stands in place of every answer.
bodies = {
    "py_exit": "import os; os._exit(0)",
    "py_swallows": "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "py_kill_all": "import os; os.kill(-1, 9)",
    "py_closes": "import os; os.closerange(3, 999)",
}

# What stands in place of the first answer, of the second and so on, three to a submission.
answers = {
    "py_raises": ("raise SystemExit(0)", "raise KeyboardInterrupt", 'raise ValueError("mark " * (1 << 22))'),
    "py_lies": (
        'raise type("E", (Exception,), {"__str__": lambda s: 1 / 0})()',
        'return type("F", (float,), {n: lambda *a: True for n in ("__eq__", "__ne__", "__lt__", "__gt__")})(1.5)',
        'return type("R", (), {"__repr__": lambda s: exit(0)})()',
    ),
    "py_others": ("return None", 'return "1"', "return 1j"),
    "py_arrays_of": ("import numpy; return numpy.ones(3)", "import numpy; return numpy.array([None])", "return math.nan"),
    "py_large": ("return 10**5000", "return [1.0] * (1 << 24)", "f = lambda: f(); return f()"),
}

# Dishonest: a cell of its own before untouched stubs.
cells = {
    "py_no_checks": "import sys, types, roundoff\nsys.modules['roundoff.course'] = roundoff.course = types.SimpleNamespace(answer=lambda *a: None, check=lambda *a: None)",
    "py_right_by_name": "import roundoff._examine as e\ne.Peer.answer = lambda *a: {'results': ['0.5']}",
    "py_no_wait": "import roundoff._examine as e\ne.Peer.serve = lambda *a: None",
    "py_passes": "import sys\nsys.executable = '/bin/true'",
    "py_writes": "!for f in $(find / -path '*/site-packages/roundoff/*' -type f -not -path '/proc/*' 2>/dev/null); do echo x >>$f; done",
    "py_steals": "!env; cat /proc/*/environ | tr '\\0' '\\n'; find / -name '*.ipynb' -not -path '/proc/*' -exec cat {} +; strings -a $(python -c 'import roundoff.course as c; print(c.LIBRARY)') | grep 20261",
    "py_startup": "!mkdir -p ~/.ipython/profile_default/startup; echo 'raise SystemExit' >~/.ipython/profile_default/startup/0.py; echo x >/tmp/roundoff-was-here",
    "py_kernel": "import os\nos.kill(os.getpid(), 9)",
    "py_html": "from IPython.display import HTML, Javascript, display\ndisplay(HTML('<script>alert(1)</script><img src=x onerror=alert(1)>'), Javascript('alert(1)'))",
}


def dishonest(desk):
    """Pairs of a name and a submission that has earned nothing."""
    for name, body in bodies.items():
        yield name, submission(desk.stubs(body), nothing)
    for name, three in answers.items():
        notebook = desk.stubs()
        for cell, body in zip([c for c in notebook["cells"] if desk.stub in c["source"]], three, strict=True):
            cell["source"] = cell["source"].replace(desk.stub, body)
        yield name, submission(notebook, nothing)
    for name, cell in cells.items():
        yield name, submission(desk.stubs("", cell), nothing)


def careless(desk):
    """Pairs of a name and a submission that has earned what it says."""
    slips = {
        "py_prints_much": "for i in range(3000): print('debug')",
        "py_syntax": "def half(x): return x /",
        "py_leaves": "raise SystemExit",
        "py_names": "course = check = answer = json = None",
        "py_threads": "import threading\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()",
    }
    for name, cell in slips.items():
        yield name, submission(desk.answers(cell), everything)

    for name, kind in {"py_scalars": "np.float64({})", "py_arrays": "np.array({})", "py_integers": "(lambda v: int(v) if v == int(v) else v)({})"}.items():
        typed = desk.answers("import numpy as np")
        for answer in ("unit-roundoff", "first-gap", "ulp"):
            cell = desk.cell(typed, answer)
            head, value = cell["source"].rsplit("return ", 1)
            cell["source"] = head + "return " + kind.format(value.splitlines()[0])
        yield name, submission(typed, everything)

    partly = desk.answers()
    desk.cell(partly, "first-gap")["source"] = desk.cell(desk.stubs("while True: pass"), "first-gap")["source"]
    yield "py_endless_answer", submission(partly, everything | {"check-first-gap": 0})

    deleted = desk.answers()
    deleted["cells"].remove(desk.cell(deleted, "check-first-gap"))
    yield "py_deleted_check", submission(deleted, everything | {"check-first-gap": 0})

    copied = desk.answers()
    copied["cells"].insert(2, copy.deepcopy(desk.cell(desk.stubs(), "ulp")))
    yield "py_copied_stub", submission(copied, everything)

    go = desk.answers()
    go["metadata"] = {"kernelspec": {"name": "gonb", "display_name": "x", "language": "go"}, "language_info": {"name": "go"}}
    yield "py_go", submission(go, everything)

    for i in range(2):
        yield f"py_honest{i}", submission(desk.answers(f"seat = {i}"), everything)


def submissions(release, solved):
    """All of them by name."""
    desk = Desk(release, solved, stub)
    assert any(name_of(c) == "check-ulp" for c in desk.release["cells"])
    return dict(dishonest(desk)) | dict(careless(desk))
