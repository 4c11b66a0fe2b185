"""Processes, threads and signals."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import numpy as np

import roundoff
from support import Test, folder, python

A = np.random.default_rng(1).standard_normal((64, 96)).astype(np.float32)
B = np.random.default_rng(2).standard_normal((96, 48)).astype(np.float32)


def product(device):
    return roundoff.gemm(A, B, device)


FORK = """
import os, time, warnings, numpy as np, roundoff
warnings.simplefilter("ignore", DeprecationWarning)  # that forking a process with threads is a risk, which is the point
{before}
start = time.monotonic()
child = os.fork()
if child == 0:
    try:
        d = roundoff.gemm(np.ones((2, 3)), np.ones((3, 2)))
        print("computed", d[0, 0], flush=True)
    except RuntimeError as e:
        print("refused:", e, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("after", time.monotonic() - start < 5, roundoff.gemm([[2.0]], [[3.0]])[0, 0])
"""



# Several runtimes of Go in one process: each has its own threads and signals. Products of all of them at once are right, and
# Ctrl-C still ends a call.
BESIDE = """
import ctypes, importlib.util, signal, sys, threading, numpy as np, roundoff
first = {first}
if first:
    roundoff.gemm([[1.0]], [[1.0]])

def copy(folder):
    spec = importlib.util.spec_from_file_location("copied", folder + "/__init__.py", submodule_search_locations=[folder])
    module = sys.modules["copied"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.gemm

a, b = np.ones((64, 512), np.float32), np.ones((512, 64), np.float32)
others = [{others}]
found = []

def work(gemm):
    found.append(all((gemm(a, b) == 512).all() for _ in range(200)))

threads = [threading.Thread(target=work, args=[gemm]) for gemm in [roundoff.gemm, *others] for _ in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert len(found) == len(threads) and all(found), found
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    roundoff.gemm(np.ones((8192, 8192), np.float32), np.ones((8192, 8192), np.float32), "cdna1")
except KeyboardInterrupt:
    print("all right")
"""

ANOTHER = """
package main

import "C"

func main() {}

//export ones
func ones(k C.int) C.int {
	sums := make(chan C.int)
	for range 8 {
		go func() {
			garbage := make([][]byte, 1000)
			for i := range garbage {
				garbage[i] = make([]byte, 1000)
			}
			sums <- k / 8
		}()
	}
	var sum C.int
	for range 8 {
		sum += <-sums
	}
	return sum
}
"""


class Beside(Test):
    def beside(self, others):
        for first in (True, False):  # which one is opened first
            with self.subTest(first=first):
                self.assertIn("all right", python(BESIDE.format(first=first, others=others), timeout=120))

    def test_two_copies(self):
        package = folder(self) / "copied"
        shutil.copytree(Path(roundoff.__file__).parent, package)
        self.beside(f"copy({str(package)!r})")

    @unittest.skipUnless(shutil.which("go") and shutil.which("cc"), "there is no Go or no C compiler here")
    def test_another_library_of_Go(self):
        made = folder(self)
        (made / "go.mod").write_text("module another\n\ngo 1.26\n")
        (made / "another.go").write_text(ANOTHER)
        subprocess.run(["go", "build", "-buildmode=c-shared", "-o", "another.so", "."], cwd=made, check=True, capture_output=True, timeout=300)
        self.beside(f"lambda a, b, ones=ctypes.CDLL({str(made / 'another.so')!r}).ones: np.full((64, 64), ones(512))")


@unittest.skipUnless(hasattr(os, "fork"), "there is no fork here")
class Fork(Test):
    def test_child_of_a_process_that_used_it(self):
        said = python(FORK.format(before="roundoff.gemm([[1.0]], [[1.0]])"), timeout=20)
        self.assertRegex(said, r'refused: roundoff was used in process \d+, of which this process \d+ is a fork.*get_context\("spawn"\)')
        self.assertIn("after True 6.0", said)

    def test_child_opens_it(self):
        said = python(FORK.format(before=""), timeout=20)
        self.assertEqual(said.split()[:2], ["computed", "3.0"])
        self.assertIn("after True 6.0", said)

    def test_child_forked_while_another_thread_opens_it(self):
        # The lock of the parent is not left locked in the child.
        before = "from roundoff import _library; _library._lock.acquire()"
        said = python(FORK.format(before=before).replace("assert os.waitpid", "_library._lock.release(); assert os.waitpid"), timeout=20)
        self.assertIn("computed 3.0", said)


class Processes(Test):
    def test_methods(self):
        want = [product(d) for d in ("volta", "hopper")]
        for method in ("spawn", "forkserver"):
            if method not in multiprocessing.get_all_start_methods():
                continue
            with self.subTest(method):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    for x, y in zip(pool.map(product, ["volta", "hopper"]), want):
                        self.same(x, y)

    def test_threads(self):
        want = {d: product(d) for d in ("volta", "hopper", "cdna2", "paper")}
        wrong = []

        def work(device):
            for _ in range(30):
                if not np.array_equal(product(device), want[device]):
                    wrong.append(device)
                try:
                    roundoff.gemm(A, A)
                    wrong.append("taken")
                except ValueError as e:
                    if "do not fit" not in str(e):
                        wrong.append(str(e))

        threads = [threading.Thread(target=work, args=(d,)) for d in want for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_threads_that_open_it(self):
        program = """
import threading, roundoff
found = []
threads = [threading.Thread(target=lambda: found.append(float(roundoff.gemm([[2.0]], [[4.0]])[0, 0]))) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(found == [8.0] * 8)
"""
        self.assertEqual(python(program).strip(), "True")

    def test_lock_of_the_interpreter(self):
        # While the library computes, this thread goes on.
        big = np.ones((700, 700), np.float32)
        worker = threading.Thread(target=roundoff.gemm, args=(big, big, "cdna1"))
        steps = 0
        worker.start()
        while worker.is_alive():
            steps += 1
            time.sleep(0.001)
        self.assertGreater(steps, 3)

    @unittest.skipUnless(sys.platform == "linux", "memory is counted in kilobytes on Linux")
    def test_memory(self):
        # Answers are freed: these are 3000, of 20 kB each. A process of its own has no other reason to grow.
        program = """
import resource, roundoff
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
roundoff._library.ask("devices", work=0)
before = used()
for _ in range(3000):
    roundoff._library.ask("devices", work=0)
print(used() - before)
"""
        self.assertLess(int(python(program)), 20_000)

    def test_import_opens_nothing(self):
        self.assertEqual(python("import roundoff; print(roundoff._library._library)").strip(), "None")


INTERRUPTED = """
import sys, time, numpy as np, roundoff
a = np.ones((4096, 4096), np.float32)
roundoff.gemm(a[:1], a[:, :1])
x = {x}
print("ready", flush=True)
try:
    {call}
    print("finished")
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
print(roundoff.gemm([[2.0]], [[3.0]])[0, 0])
"""


@unittest.skipIf(sys.platform == "win32", "Windows has no SIGINT to send")
class Interrupt(Test):
    def test_all(self):
        for x, call in (
            ("a", 'roundoff.gemm(x, a, "cdna1")'),
            ("np.ones((40000, 4096), np.float32)", "roundoff.dot(x, a[0], 'cdna1')"),
            ("np.exp(np.linspace(-80, 80, 1 << 24, dtype=np.float32)).reshape(a.shape)", "roundoff.exact(x, a)"),
            ("np.tile(a, (2, 1))", "roundoff.audit(x, a)"),
        ):
            with self.subTest(call):
                p = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(x=x, call=call)], stdout=subprocess.PIPE, text=True)
                try:
                    self.assertEqual(p.stdout.readline(), "ready\n")
                    time.sleep(1)
                    sent = time.time()
                    p.send_signal(signal.SIGINT)
                    line = p.stdout.readline().split()
                    self.assertEqual(line[:1], ["interrupted"])
                    self.assertLess(float(line[1]) - sent, 1)
                    self.assertEqual(p.stdout.readline(), "6.0\n")
                finally:
                    p.kill()
                    p.communicate()


if __name__ == "__main__":
    unittest.main()
