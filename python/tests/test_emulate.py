"""Emulation without a framework, and what it says."""

import unittest

import numpy as np

import roundoff
from roundoff._emulation import Machine, Shared
from roundoff._report import Run
from support import Test, python

A = np.random.default_rng(1).standard_normal((3, 5, 40)).astype(np.float32)
B = np.random.default_rng(2).standard_normal((3, 40, 7)).astype(np.float32)


DEEPGEMM = ("deepgemm-1x128", "deepgemm-128x128")


class Refused(Test):
    def test_arguments(self):
        for error, says, arguments in [
            (ValueError, 'no device "pascal"', {"device": "pascal"}), (TypeError, "device is 3", {"device": 3}),
            (ValueError, 'no format "e9"', {"in_": "e9"}), (TypeError, "in_ is 8", {"in_": ("e4m3", 8)}), (TypeError, "in_ is 8", {"in_": 8}),
            (ValueError, "split_k is 0", {"split_k": 0}), (TypeError, "split_k is 1.5", {"split_k": 1.5}), (ValueError, "Promote = 5", {"promote": 5}),
            (ValueError, 'no format "e9"', {"out_format": "e9"}), (ValueError, "sums of int32", {"device": "sapphirerapids-tdpbssd-int8-int32"}),
            (ValueError, "for binary64", {"device": "hopper", "in_": "binary64"}), (ValueError, "sums of binary64", {"device": "hopper", "in_": "binary64", "out_format": "binary64"}),
            (ValueError, "sums of binary64", {"device": "hopper-mma-binary64-binary64"}),
            (TypeError, "unexpected keyword", {"alpha": 2}),
            (ValueError, 'plan is "split-blocky"', {"plan": "split-blocky"}), (ValueError, "plan is 'split', and device", {"plan": "split", "split_k": 2}), (TypeError, "plan is 3", {"plan": 3}),
            (ValueError, 'no recipe "fp4"', {"recipe": "fp4"}), (TypeError, "recipe is 4", {"recipe": ("deepgemm-1x128", 4)}), (ValueError, "kernel", {"kernel": "deepgemm"}),
        ]:  # fmt: skip
            with self.subTest(**arguments):
                self.assertRaisesRegex(error, says, lambda: roundoff.emulate(**arguments))

    def test_nothing_to_emulate(self):
        # Nothing is imported that is not there already.
        said = python(
            """
import sys, roundoff
try:
    with roundoff.emulate("hopper", in_="e4m3"): print("entered")
except RuntimeError as e:
    print(e)
print([name for name in ("jax", "onnx", "torch") if name in sys.modules])
"""
        )
        self.assertRegex(said, r"neither torch nor onnx.reference is imported.*emulate\(\.\.\.\)\(f\)\n\[\]\n$")

    def test_function(self):
        self.assertRaisesRegex(TypeError, "function is 3, want a function of JAX", lambda: roundoff.emulate()(3))


class Machines(Test):
    def test_products(self):
        # A batch of products is one after the other.
        for machine, more in [
            (Machine("hopper", "e4m3", None, 1, 0), {"in_": "e4m3"}), (Machine("ampere", None, None, 4, 0), {"split_k": 4}),
            (Machine("hopper", ("e4m3", "e5m2"), "bfloat16", 1, 32), {"in_": ("e4m3", "e5m2"), "out_format": "bfloat16", "promote": 32}),
            (Machine("hopper", None, None, plan="split-blocks"), {"plan": "split-blocks"}),
            (Machine("hopper", None, None, recipe=DEEPGEMM), {"recipe": DEEPGEMM}), (Machine("hopper", None, None, recipe=DEEPGEMM, kernel="epilogue"), {"recipe": DEEPGEMM, "kernel": "epilogue"}),
        ]:  # fmt: skip
            want = np.stack([roundoff.gemm(a, b, machine.device, **more) for a, b in zip(A, B)])
            self.same(machine.product(A, B), want)

    def test_empty(self):
        machine = Machine("hopper", None, None, 1, 0)
        for a, b in (((0, 2, 3), (0, 3, 4)), ((2, 0, 3), (2, 3, 4)), ((2, 2, 0), (2, 0, 4)), ((2, 2, 3), (2, 3, 0))):
            self.same(machine.product(np.ones(a, np.float32), np.ones(b, np.float32)), np.zeros((a[0], a[1], b[2]), np.float32))

    def test_name(self):
        self.assertEqual(str(Machine("hopper", ("e4m3", "e5m2"), "binary16", 2, 64)), "hopper, in_=e4m3,e5m2, out_format=binary16, split_k=2, promote=64")
        self.assertEqual(repr(roundoff.emulate("volta")), "<emulation of volta>")
        self.assertEqual(repr(roundoff.emulate(recipe=DEEPGEMM, kernel="deepseek")), "<emulation of hopper, recipe=deepgemm-1x128,deepgemm-128x128, kernel=deepseek>")
        self.assertEqual(repr(roundoff.emulate(plan="split-blocks")), "<emulation of plan=split-blocks>")


class Reports(Test):
    def test_all(self):
        run = Run("hopper")
        self.assertEqual(str(run), "hopper: 0 calls, 0 multiply-adds\nno product ran on the device")
        for _ in range(3):
            run.add("jax", "dot_general", (2, 3, 5), (2, 5, 7), ("float32", "float32"))
        run.add("torch", "mm", (1, 2, 2), (1, 2, 2), ("float16", "bfloat16"))
        run.leave("jax", "lu")
        run.leave("jax", "lu")
        run.note("so it is")
        run.note("so it is")
        self.assertEqual([(p.operation, p.calls, p.multiply_adds) for p in run.products], [("dot_general", 3, 630), ("mm", 1, 8)])
        self.assertEqual((run.multiply_adds, run.left, run.notes), (638, {"jax lu": 2}, ["so it is"]))
        self.assertEqual(
            str(run).splitlines(),
            ["hopper: 4 calls, 638 multiply-adds",
             "product          batch  m  k  n  dtypes            calls  multiply-adds",
             "jax dot_general      2  3  5  7  float32               3            630",
             "torch mm             1  2  2  2  float16,bfloat16      1              8",
             "left exact: jax lu, 2 times", "note: so it is"],
        )  # fmt: skip


class Together(unittest.TestCase):
    def test_shared(self):
        seen = []

        class Context:
            def __enter__(self):
                seen.append("in")

            def __exit__(self, *_):
                seen.append("out")

        shared = Shared(Context)
        with shared:
            with shared:
                self.assertEqual(seen, ["in"])
            self.assertEqual(seen, ["in"])
        self.assertEqual(seen, ["in", "out"])
        with shared:
            self.assertEqual(seen, ["in", "out", "in"])
