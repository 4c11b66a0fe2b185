"""Asks NumPy's sums for their order by roundoff infer, and looks whether it is the one that NumPy documents: pairwise
sums of up to 128 terms in eight lanes.

    order_test.py ROUNDOFF
"""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy as np

roundoff = str(pathlib.Path(sys.argv[1]).resolve())
box = pathlib.Path(__file__).resolve().with_name("box.py")
functions = """
import numpy as np
def total(x, y, c): return np.sum(x * y)
def running(x, y, c): return np.cumsum(x * y)[-1]
def dot(x, y, c): return np.dot(x, y)
"""


def find(file, function, k):
    """What roundoff infer finds for a function of so many products."""
    ask = file.with_name("ask")  # a command is split at spaces, which the names of programs may have
    ask.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(box))} \"$@\"\n")
    ask.chmod(0o755)
    run = subprocess.run([roundoff, "infer", "--order", "--json", "--in", "binary32", "--k", str(k), "--command",
                          f"./ask {file.name} {function}"], capture_output=True, text=True, cwd=file.parent)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def tree(found):
    """The additions as lists in lists, of products by number."""
    k, sums = found["K"], []
    for terms in found["Additions"]:
        sums.append([i if i < k else sums[i - k] for i in terms])
    return sums[-1] if sums else 0


def total(folder):
    """np.sum has the bits of the plan that roundoff has of it, for lengths on both sides of every rule."""
    rng = np.random.default_rng(1)
    for k in (1, 7, 8, 100, 128, 129, 136, 300, 1000, 4099):
        a = (rng.standard_normal((20, k)) * 10.0 ** rng.uniform(-3, 3, (20, k))).astype(np.float32)
        np.save(folder / "A.npy", a)
        np.save(folder / "B.npy", np.ones((k, 1), np.float32))
        run = subprocess.run([roundoff, "gemm", "-library", "numpy-sum", "-in", "binary32", "A.npy", "B.npy", "-o", "D.npy"],
                             capture_output=True, text=True, cwd=folder)
        assert run.returncode == 0, run.stderr
        planned = np.load(folder / "D.npy")[:, 0]
        for i in range(len(a)):
            assert np.sum(a[i]) == planned[i], (k, i, np.sum(a[i]), planned[i])


def chain(terms):
    """The sum from left to right."""
    tree = terms[0]
    for term in terms[1:]:
        tree = [tree, term]
    return tree


def pairwise(terms):
    """The sum of NumPy's loops."""
    n = len(terms)
    if n < 8:
        return chain(terms)
    if n <= 128:
        whole = n - n % 8
        lane = [chain(terms[i:whole:8]) for i in range(8)]
        tree = [[[lane[0], lane[1]], [lane[2], lane[3]]], [[lane[4], lane[5]], [lane[6], lane[7]]]]
        return chain([tree] + terms[whole:])
    half = n // 2
    half -= half % 8
    return [pairwise(terms[:half]), pairwise(terms[half:])]


def unordered(tree):
    """The tree without the order of the two terms of an addition."""
    return frozenset(map(unordered, tree)) if isinstance(tree, list) else tree


with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "functions.py"
    file.write_text(functions)
    for k in (1, 5, 40, 300):
        for function, want in (("total", pairwise), ("running", chain)):
            found = find(file, function, k)
            assert unordered(tree(found)) == unordered(want(list(range(k)))), (function, k, tree(found))
            assert found["Agreed"] == found["Checked"] > 0, (function, k, found)
    total(pathlib.Path(folder))
    found = find(file, "dot", 256)  # of BLAS; what 32 does not divide, OpenBLAS adds in binary64
    assert found["Agreed"] == found["Checked"] > 0, found
print("np.sum, np.cumsum and np.dot: their orders are found and give their bits; the plan of np.sum does too")
