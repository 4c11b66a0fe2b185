"""Measures the wheel: its sizes, how long importing it takes beside NumPy, and a product beside Go.

    python tests/bench.py WHEEL

It prints a table in Markdown, as python/README.md has it.
"""

import os
import statistics
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np

import roundoff

N, ROUNDS = 512, 15


def processes(*programs):
    """Returns the seconds that a new process takes for each program, the medians of several in turn."""
    times = [[] for _ in programs]
    for _ in range(ROUNDS):
        for program, seconds in zip(programs, times):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            seconds.append(time.perf_counter() - start)
    return list(map(statistics.median, times))


def timed(call):
    """Returns the seconds that a call takes, the median of several."""
    call()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def go(device):
    """Returns the seconds of a product within Go, by the benchmark of the library's own function."""
    run = subprocess.run(
        ["go", "test", "-run", "^$", "-bench", f"BenchmarkGEMM/{device}$", "-benchtime", "1x", "-count", str(ROUNDS), "./internal/abi"],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True,
    )  # fmt: skip
    return statistics.median(float(line.split()[2]) * 1e-9 for line in run.stdout.splitlines() if line.startswith("BenchmarkGEMM/"))


def main(wheel):
    with zipfile.ZipFile(wheel) as z:
        library = next(f.file_size for f in z.infolist() if f.filename.endswith(".so"))
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((N, N)).astype(np.float32) for _ in "ab")
    numpy, both, used, opened = processes("import numpy", "import numpy, roundoff", "import numpy, roundoff; roundoff.gemm", "import numpy, roundoff; roundoff.version()")
    rows = [
        ("library", f"{library / 1e6:.1f} MB"),
        ("wheel", f"{os.path.getsize(wheel) / 1e6:.1f} MB"),
        ("`import roundoff` over `import numpy`", f"{(both - numpy) * 1e3:.0f} ms over {numpy * 1e3:.0f} ms"),
    ]
    rows.append(("what it imports when a product is first named", f"{(used - both) * 1e3:.0f} ms"))
    rows.append(("the first call, which opens the library", f"{(opened - used) * 1e3:.0f} ms"))
    for device in ("hopper-wgmma-binary16-binary32", "blackwell-tcgen05-e4m3-binary32"):
        python = timed(lambda: roundoff.gemm(a, b, device))
        rows.append((f"{N}³ on {device}", f"{python * 1e3:.1f} ms, in Go {go(device) * 1e3:.1f} ms"))
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, {os.cpu_count()} cores, vector instructions {roundoff.version()['vector']}\n")
    print("| | |\n|---|--:|")
    for name, value in rows:
        print(f"| {name} | {value} |")


main(sys.argv[1])
