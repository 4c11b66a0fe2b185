"""What tests have in common."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np


def bits(x):
    """Returns the bits of an array, in which NaN equals NaN of the same bits."""
    return np.ascontiguousarray(x).view({4: np.uint32, 8: np.uint64, 2: np.uint16, 1: np.uint8}[x.dtype.itemsize])


class Test(unittest.TestCase):
    def same(self, x, y):
        self.assertEqual((x.shape, x.dtype), (y.shape, y.dtype))
        np.testing.assert_array_equal(bits(x), bits(y))


def python(program, timeout=60, **options):
    """Runs a program in another process, which must succeed, and returns what it printed."""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout, **options)
    if run.returncode != 0:
        raise AssertionError(f"status {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout


def command(*arguments):
    """Runs the command roundoff, and returns what it printed. Skips the test where there is none."""
    program = os.environ.get("ROUNDOFF", "")
    if not os.path.exists(program):
        raise unittest.SkipTest("there is no program roundoff: ROUNDOFF names it")
    run = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        raise AssertionError(f"{arguments}: status {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout


def folder(test):
    """Returns a folder that is there while the test runs."""
    made = tempfile.TemporaryDirectory()
    test.addCleanup(made.cleanup)
    return Path(made.name)
