"""A function of Python is found out to add as it does."""

import json
import sys
import threading
import time
import traceback
import unittest
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np

import roundoff
from support import Test, command, folder, python, together


def box(device):
    """Returns a function that answers as a device does, of which it does not tell the name."""

    def answer(x, y, c, scale_x=None, scale_y=None):
        return roundoff.dot(x, y, device, c=c, scale_x=scale_x, scale_y=scale_y, out=np.empty(len(c), c.dtype))

    return answer


def one(x, y, c):
    """Adds two products to c as a processor does, one question at a time."""
    return c + (x[0] * y[0] + x[1] * y[1])


def running(x, y, c):
    return np.cumsum(x * y, axis=-1)[..., -1]


VOLTA = {"f": box("volta-mma-binary16-binary32"), "k": 4}


class Infer(Test):
    def test_devices(self):
        # Each is found with its name hidden, and the device that is found computes the same.
        rng = np.random.default_rng(1)
        for device, in_, out, k, more in [
            ("volta-mma-binary16-binary32", "binary16", "binary32", 4, {}), ("turing-mma-binary16-binary16", "binary16", "binary16", 8, {"seed": 3}),
            ("hopper-wgmma-binary16-binary32", "binary16", "binary32", 16, {}), ("ampere-mma-tf32-binary32", "tf32", "binary32", 4, {}),
            ("ampere-mma-bfloat16-binary32", "bfloat16", "binary32", 8, {}), ("ada-mma-e4m3-binary32", ("e4m3", "e4m3"), "binary32", 16, {}),
            ("cdna1-mfma-bfloat16-binary32", "bfloat16", "binary32", 4, {}), ("cdna2-mfma-binary16-binary32", "binary16", "binary32", 4, {}),
            ("cdna3-mfma-e5m2fnuz-binary32", "e5m2fnuz", "binary32", 16, {}), ("cdna3-mfma-binary64-binary64", "binary64", "binary64", 4, {}),
            ("blackwell-tcgen05-f4ue4m3x16-binary32", "e2m1", "binary32", 16, {"scale": "ue4m3", "scale_block": 16}),
        ]:  # fmt: skip
            with self.subTest(device=device):
                seen = set()

                def f(x, y, c, *scales, box=box(device), k=k, seen=seen):
                    seen.add((x.shape == y.shape == (len(c), k), str(x.dtype), str(c.dtype), *((s.shape[1], str(s.dtype)) for s in scales)))
                    return box(x, y, c, *scales)

                found = roundoff.infer(f, in_, out, k, **more)
                self.assertTrue(found.explained)
                self.assertIn(device, found.devices)
                self.assertEqual((found.checked, found.agreed, found.k), (10000, 10000, k))
                self.assertEqual(len(seen), 1)
                self.assertTrue(next(iter(seen))[0])
                x, y = rng.standard_normal((2, 200, 4 * k)).astype(next(iter(seen))[1])
                c = rng.standard_normal(200).astype(out.replace("binary", "float"))
                if not more.get("scale"):
                    self.same(box(found.devices[0])(x, y, c), box(device)(x, y, c))

    def test_two_formats(self):
        def f(x, y, c):
            self.assertEqual((x.dtype, y.dtype), (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2))
            return roundoff.dot(x, y, "ada", in_=("e4m3", "e5m2"), c=c)

        found = roundoff.infer(f, ("e4m3", "e5m2"), k=8)
        self.assertEqual((found.record["A"]["Name"], found.record["B"]["Name"], found.record["Kind"]), ("e4m3", "e5m2", "Fused"))

    def test_command(self):
        # Of the same box and seed the command asks the same questions, and says the same.
        name = "volta-mma-binary16-binary32"
        found = roundoff.infer(**VOLTA, seed=5)
        self.assertEqual(str(found), command("infer", "-seed", 5, "-device", name))
        said = json.loads(command("infer", "-json", "-seed", 5, "-device", name))
        self.assertEqual(
            (found.record, found.literal, found.tree, found.devices, found.questions, found.tried, found.checked),
            tuple(said[n] for n in ("Record", "Literal", "Tree", "Catalogue", "Asked", "Tried", "Checked")),
        )
        self.assertEqual(found.parameters, {p["Name"]: p["Value"] for p in said["Parameters"]})
        self.assertEqual(found.rivals, {p["Name"]: p["Others"] for p in said["Parameters"] if "Others" in p})
        self.assertEqual([(a.x, a.y, a.c, a.d) for a in found.vectors], [(a["X"], a["Y"], a["C"], a["D"]) for a in said["Vectors"]])

    def test_order(self):
        # NumPy's sums are found to be added as the command finds it, which asks the same function by lab/box.py.
        asks = Path(__file__).parents[2] / "lab" / "box.py"
        if not asks.exists():
            self.skipTest("this is not the repository")
        file = folder(self) / "functions.py"
        file.write_text(
            "import numpy as np\n"
            "def total(x, y, c): return np.sum(x * y, axis=-1)\n"
            "def running(x, y, c): return np.cumsum(x * y, axis=-1)[..., -1]\n"
            "def backwards(x, y, c): return running(x[..., ::-1], y[..., ::-1], c) + c\n"
        )
        box = file.with_name("box")  # paths of the repository may have spaces
        box.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{asks}" "{file}" "$1"\n')
        box.chmod(0o755)
        functions: dict = {}
        exec(file.read_text(), functions)
        for name, k in (("total", 40), ("running", 9), ("backwards", 9)):
            with self.subTest(name=name, k=k):
                found = roundoff.infer(functions[name], "binary32", k=k, order=True)
                words = ["infer", "-order", "-in", "binary32", "-k", k, "-command", f"{box} {name}"]
                self.assertEqual(str(found), command(*words))
                said = json.loads(command(*words, "-json"))
                self.assertEqual((found.additions, found.questions), (said["Additions"], said["Questions"]))
                self.assertEqual((found.checked, found.agreed), (said["Checked"], said["Agreed"]))
                self.assertTrue(found.explained)
        self.assertEqual(roundoff.infer(functions["backwards"], "binary32", k=3, order=True).order, ["c", [0, [1, 2]]])

    def test_orders_of_all_lengths(self):
        # A chain is deeper than Python can go down; of one product there is no addition.
        long = roundoff.infer(running, "binary32", k=3000, order=True)
        self.assertTrue(long.additions == [[0, 1], *([2998 + i, i] for i in range(2, 3000))])
        depth, tree = 0, long.order
        while isinstance(tree, list):
            depth, tree = depth + 1, tree[0]
        self.assertEqual((depth, tree), (2999, 0))
        repr(long)
        single = roundoff.infer(lambda x, y, c: x[:, 0] * y[:, 0], "binary32", k=1, order=True)
        self.assertEqual((single.order, single.additions), (0, []))

    def test_one_at_a_time(self):
        self.assertEqual(roundoff.infer(one, "binary32", k=2, batch=False, order=True).order, ["c", [0, 1]])
        shapes = set()

        def f(x, y, c):
            shapes.add((x.shape, y.shape, type(c)))
            return one(x, y, c)

        roundoff.infer(f, "binary32", k=2, batch=False, order=True)
        self.assertEqual(shapes, {((2,), (2,), np.float32)})
        signed = np.vectorize(one, signature="(k),(k),()->()")
        self.assertEqual(roundoff.infer(signed, "binary32", k=2, order=True).order, ["c", [0, 1]])

    def test_codes(self):
        # By codes it is the same, and a NaN keeps its bits.
        def f(x, y, c):
            self.assertEqual((x.dtype, y.dtype, c.dtype), (np.uint8, np.uint8, np.uint32))
            z = box("ada-mma-e4m3-binary32")(x.view(ml_dtypes.float8_e4m3fn), y.view(ml_dtypes.float8_e4m3fn), c.view(np.float32))
            return np.where(np.isnan(z), np.uint32(0x7FC12345), z.view(np.uint32))

        found = roundoff.infer(f, "e4m3", k=4, codes=True)
        self.assertEqual((found.explained, found.parameters["NaN"], found.record["NaN"], found.devices), (True, "0x7fc12345", 0x7FC12345, []))

    def test_nonsense(self):
        # No record explains it, and an answer shows that.
        def f(x, y, c):
            z = box("volta-mma-binary16-binary32")(x, y, c)
            z[x[:, 3] < 0] *= 2
            return z

        found = roundoff.infer(f, k=4)
        self.assertEqual((found.explained, found.record, found.devices, found.rivals), (False, None, None, None))
        a = found.counterexample
        x, y = (np.array([v], np.uint16).view(np.float16) for v in (a.x, a.y))
        self.assertEqual(f(x, y, np.array([a.c], np.uint32).view(np.float32)).view(np.uint32)[0], a.d)
        self.assertIn("none of those tried gives all answers", str(found))
        self.assertEqual(found.closest["C"]["Name"], "binary32")

    def test_what_is_refused(self):
        for error, says, arguments in [
            (TypeError, "f is 3, want a function", {"f": 3}),
            (ValueError, "in_ is 'binary17', want the name of a format", {"in_": "binary17"}),
            (ValueError, "in_ is 'e4m3,e4m3', want", {"in_": "e4m3,e4m3,e4m3"}),
            (TypeError, "in_ is 16, want a text", {"in_": 16}),
            (ValueError, "out_format is 'binary3'", {"out_format": "binary3"}),
            (ValueError, "results in e4m3, want a signed format with infinities", {"out_format": "e4m3"}),
            (ValueError, 'in "int8", want a format', {"in_": "int8"}),
            (ValueError, "k is 0, want 1 to 65536", {"k": 0}),
            (ValueError, "k is 65537, want 1 to 65536", {"k": 65537, "order": True}),
            (ValueError, "K = 257, want 1 to 256", {"k": 257}),
            (TypeError, "k is 4.0, want an integer", {"k": 4.0}),
            (ValueError, "seed is -1, want 0 to", {"seed": -1}),
            (ValueError, 'scale "e8m0" and scale_block 0, want both or neither', {"scale": "e8m0"}),
            (ValueError, "ScaleBlock = 3, want a divisor of K = 4", {"scale": "e8m0", "scale_block": 3}),
        ]:  # fmt: skip
            with self.subTest(**arguments), self.assertRaisesRegex(error, says):
                roundoff.infer(**{**VOLTA, **arguments})

    def test_what_f_must_not_return(self):
        for error, says, f in [
            (ValueError, r"f returned the shape \(1500, 1\), want \(1500,\)", lambda x, y, c: c[:, None]),
            (ValueError, r"f returned the shape \(\), want \(1500,\)", lambda x, y, c: c[0]),
            (ValueError, r"f returned the shape \(1499,\), want \(1500,\)", lambda x, y, c: c[1:]),
            (TypeError, "f returned the dtype float64, want float32", lambda x, y, c: c.astype(np.float64)),
            (TypeError, "f returned the dtype uint32, want float32", lambda x, y, c: c.view(np.uint32)),
            (TypeError, "f returned the dtype >f4, want float32", lambda x, y, c: c.astype(">f4")),
            (TypeError, "what f returned is None, want an array", lambda x, y, c: None),
        ]:
            with self.subTest(says), self.assertRaisesRegex(error, says):
                roundoff.infer(f, k=4)
        for error, says, f in [
            (TypeError, "f returned the dtype float64, want float32", lambda x, y, c: 0.5),
            (ValueError, r"f returned the shape \(4,\), want \(\)", lambda x, y, c: x.astype(np.float32)),
        ]:
            with self.subTest(says), self.assertRaisesRegex(error, says):
                roundoff.infer(f, k=4, batch=False)

    def test_changing_answers(self):
        rng = np.random.default_rng(1)
        with self.assertRaisesRegex(roundoff.Error, "the box changes its answers"):
            roundoff.infer(lambda x, y, c: rng.random(len(c), np.float32), k=4)
        with self.assertRaisesRegex(roundoff.Error, "no order of additions"):
            roundoff.infer(lambda x, y, c: x[:, 0] * y[:, 0] * np.float32(3), "binary32", k=4, order=True)

    def test_exceptions(self):
        # What f raises is raised, the same object, from where it was raised; the next call is as before.
        before = threading.active_count()
        for kind in (ZeroDivisionError, KeyboardInterrupt, SystemExit):
            for raises in (0, 2):
                with self.subTest(kind=kind.__name__, raises=raises):
                    thrown, calls = kind("this"), []

                    def f(x, y, c, thrown=thrown, calls=calls, raises=raises):
                        calls.append(threading.current_thread())
                        if len(calls) > raises:
                            raise thrown
                        return VOLTA["f"](x, y, c)

                    try:
                        roundoff.infer(f, k=4)
                        self.fail("it returned")
                    except kind as caught:
                        self.assertIs(caught, thrown)
                    self.assertIsNone(thrown.__cause__ or thrown.__context__)
                    self.assertIn("raise thrown", traceback.format_tb(thrown.__traceback__)[-1])
                    self.assertEqual((len(calls), set(calls)), (raises + 1, {threading.current_thread()}))
        self.assertTrue(roundoff.infer(**VOLTA).explained)
        self.threads_end(before + 1)

    def threads_end(self, most):
        """Waits until there are no more threads; one is kept for the main thread."""
        for _ in range(100):
            if threading.active_count() <= most:
                break
            time.sleep(0.05)
        self.assertLessEqual(threading.active_count(), most)

    def test_ctrl_c(self):
        # It ends a call within a second, while f computes and while the library does; that of a thread is let alone.
        program = """
import os, signal, threading, time, numpy as np, roundoff
def f(x, y, c):
    if {sleeps}:
        time.sleep(30)
    return np.zeros(len(c), np.float32)
def interrupt():
    global pressed
    pressed = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.7, interrupt).start()
try:
    while True:
        roundoff.infer(f, "binary16", k=256)
except KeyboardInterrupt:
    print(time.monotonic() - pressed < 1)
time.sleep(1)
print([t.name for t in threading.enumerate() if t.name == "roundoff"])  # which computes no more
print(roundoff.infer(lambda x, y, c: roundoff.dot(x, y, "volta", c=c), k=4).devices[0])
"""
        for sleeps in (False, True):
            with self.subTest(sleeps=sleeps):
                self.assertEqual(python(program.format(sleeps=sleeps)).split(), ["True", "[]", "volta-mma-binary16-binary32"])

    def test_threads(self):
        # Two threads ask at the same time, each in itself, and f may ask others.
        names = [("volta-mma-binary16-binary32", 4), ("cdna2-mfma-binary16-binary32", 4)]

        def work(pair):
            asked_by = set()

            def f(x, y, c):
                asked_by.add(threading.current_thread())
                return box(pair[0])(x, y, c)

            found = roundoff.infer(f, k=pair[1])
            self.assertEqual((asked_by, pair[0] in found.devices), ({threading.current_thread()}, True))

        before = threading.active_count()
        together(work, names)
        inner = []

        def asks(x, y, c):
            if not inner:
                inner.append(roundoff.infer(one, "binary32", k=2, batch=False, order=True).order)
            return VOLTA["f"](x, y, c)

        self.assertTrue(roundoff.infer(asks, k=4).explained)
        self.assertEqual(inner, [["c", [0, 1]]])
        self.threads_end(before + 1)

    def test_no_warnings(self):
        # Questions with infinities are asked on purpose. What f does to its arrays is its own affair.
        kept = []

        def f(x, y, c):
            kept.append((x, x.copy()))
            z = np.float32(2) * (x * y).sum(axis=1, dtype=np.float32) / np.float32(2) + c
            y[:] = 0
            return z

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            roundoff.infer(f, "binary32", k=4)
        for x, copy in kept:
            self.same(x, copy)


if __name__ == "__main__":
    unittest.main()
