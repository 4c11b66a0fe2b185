"""What tests have in common."""

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

# What a shell starts in the background ignores Ctrl-C, and so would what the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


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


def together(work, arguments):
    """Calls work with each of the arguments, at the same time, and raises what it raises."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        list(pool.map(work, arguments))


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


def framework(name):
    """Returns a module of another project. Skips what needs it where it is not installed, unless FRAMEWORKS names it."""
    try:
        return importlib.import_module(name)
    except ImportError as e:
        if name.split(".")[0] in os.environ.get("FRAMEWORKS", "").split(","):
            raise
        raise unittest.SkipTest(f"{name} cannot be imported: {e}") from e


def convolved(gemm, x, w, pads, strides, dilations, groups):
    """Returns a convolution as gemm has it: a row of activations for each place, channel by channel, by a column for each
    filter. pads are pairs."""
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    kernel, rank = w.shape[2:], x.ndim - 2
    sizes = [(x.shape[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(rank)]
    d = np.empty((len(x), len(w), *sizes), np.float32)
    channels, count = w.shape[1], len(w) // groups
    for g in range(groups):
        column = w[g * count : (g + 1) * count].reshape(count, -1).T
        for image in range(len(x)):
            for place in np.ndindex(*sizes):
                cells = tuple(slice(p * s, p * s + (k - 1) * e + 1, e) for p, s, k, e in zip(place, strides, kernel, dilations))
                row = x[(image, slice(g * channels, (g + 1) * channels), *cells)].reshape(1, -1)
                d[(image, slice(g * count, (g + 1) * count), *place)] = gemm(row, column)[0]
    return d
