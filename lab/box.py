"""Answers the questions of `roundoff infer --command` by a function of Python, of binary32:

    roundoff infer --order --in binary32 --k 256 --command "python lab/box.py FILE.py FUNCTION"

FUNCTION(x, y, c) gets two float32 arrays of NumPy and a float32, and returns a number: c + sum of x * y, in any way. Where
the package for Python is installed, its roundoff.infer does so for all formats, in one process.
"""

import importlib.util
import sys

import numpy as np


def load(file, function):
    spec = importlib.util.spec_from_file_location("box", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    dot = load(sys.argv[1], sys.argv[2])
    for line in sys.stdin:
        codes = np.array([int(word, 16) for word in line.split()], dtype=np.uint32).view(np.float32)
        k = len(codes) // 2
        print(f"{np.float32(dot(codes[:k], codes[k:2 * k], codes[-1])).view(np.uint32):x}")


if __name__ == "__main__":
    main()
