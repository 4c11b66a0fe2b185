"""Writes the input of Magika, a network that tells what a file contains, for roundoff audit -run.

    contents.py INPUTS.npz FILE ...

A row for each file: 1024 bytes of its beginning without white space before them, and 1024 of its end without white space
after them, 256 where there are none. Needs numpy."""

import pathlib
import sys

import numpy as np


def row(data, size=1024, block=4096):
    begin, end = list(data[:block].lstrip()[:size]), list(data[-block:].rstrip()[-size:])
    return begin + [256] * (size - len(begin)) + [256] * (size - len(end)) + end


if __name__ == "__main__":
    np.savez(sys.argv[1], bytes=np.array([row(pathlib.Path(name).read_bytes()) for name in sys.argv[2:]], np.int32))
