"""Tolerances are those of the command, and say what is wrong."""

import json
import sys
import textwrap
import subprocess

import ml_dtypes
import numpy as np

import roundoff
from roundoff import testing
from support import Test, command, folder


class Testing(Test):
    def setUp(self):
        rng = np.random.default_rng(7)
        self.a, self.b = rng.standard_normal((33, 150)).astype(np.float16), rng.standard_normal((150, 21)).astype(np.float16)

    def test_command(self):
        dir = folder(self)
        for n, x in (("a", self.a), ("b", self.b), ("d", roundoff.gemm(self.a, self.b, split_k=3))):
            np.save(dir / f"{n}.npy", x)
        a, b, d, limits = (dir / f"{n}.npy" for n in ("a", "b", "d", "limits"))
        for flags, options in [
            ([], {}), (["-confidence", "always"], {"confidence": "always"}), (["-orders", "any"], {"orders": "any"}), (["-orders", "mixed"], {"orders": "mixed"}),
            (["-split-k", "3", "-out", "binary16"], {"split_k": 3, "out_format": "binary16"}), (["-plan", "split"], {"plan": "split"}),
        ]:  # fmt: skip
            with self.subTest(**options):
                said = json.loads(command("tolerance", "-json", *flags, "-o", limits, a, b))
                t = testing.tolerance(self.a, self.b, **options)
                self.same(t.limits, np.load(limits))
                self.assertEqual((t.bound, t.confidence, t.orders, t.text), (said["bound"], said["confidence"], said["orders"], said["text"]))
        said = json.loads(command("tolerance", "-json", "-emulate", "bits", a, b, d))
        found = testing.compare(np.load(d), self.a, self.b, emulate="bits")
        self.assertEqual((found.beyond, found.emulated, found.text), (0, said["emulated"], said["text"]))

    def test_sound(self):
        for split_k in (1, 2, 5):
            d = roundoff.gemm(self.a, self.b, split_k=split_k)
            testing.assert_close(d, self.a, self.b)
            testing.assert_close(d, self.a, self.b, emulate="bits")
            testing.assert_close(d, self.a, self.b, emulate="sums")
            testing.assert_close(d.astype(np.float16), self.a, self.b)
            testing.assert_close(d[0], self.a[0], self.b)
            testing.assert_close(d[:, 1], self.a, self.b[:, 1])
            other = roundoff.gemm(self.a, self.b, "volta", out_format="binary16").astype(np.float16)
            testing.assert_close(d, self.a, self.b, want=other, want_device="volta", want_acc="binary16")
        e4m3 = [x.astype(ml_dtypes.float8_e4m3fn) for x in (self.a, self.b)]
        testing.assert_close(roundoff.gemm(*e4m3, in_="e4m3").astype(ml_dtypes.bfloat16), *e4m3)
        with self.assertRaisesRegex(AssertionError, "beyond its tolerance"):
            testing.assert_close(roundoff.gemm(*e4m3, in_="e4m3"), *e4m3, device="blackwell", emulate="sums")

    def test_mixed(self):
        rng = np.random.default_rng(3)
        a, b = (rng.random(n).astype(ml_dtypes.float8_e4m3fn) for n in ((24, 1003), (1003, 24)))
        got = roundoff.gemm(a, b, in_="e4m3")
        testing.assert_close(got, a, b)
        got[:5] = roundoff.gemm(a[:5], b, in_="e4m3", split_k=32)  # sound tiles, cut otherwise
        found = testing.compare(got, a, b)
        self.assertFalse(found)
        self.assertIn("mixed orders allow each output another", found.text)
        testing.assert_close(got, a, b, orders="mixed")
        with self.assertRaisesRegex(AssertionError, "beyond its tolerance"):
            testing.assert_close(roundoff.gemm(a[:, :900], b[:900], in_="e4m3"), a, b, orders="mixed")

    def test_scales(self):
        rng = np.random.default_rng(5)
        device, k = "blackwell-tcgen05-mxe4m3-binary32", 128
        a, b = (rng.standard_normal(n).astype(ml_dtypes.float8_e4m3fn) for n in ((9, k), (k, 7)))
        scales = [(2.0 ** rng.integers(-2, 3, n)).astype(ml_dtypes.float8_e8m0fnu) for n in ((9, k // 32), (k // 32, 7))]
        options = {"device": device, "scale_a": scales[0], "scale_b": scales[1]}
        d = np.empty((9, 7), np.float32)
        for j in range(7):
            d[:, j] = roundoff.dot(a, b[:, j], device, scale_x=scales[0], scale_y=np.ascontiguousarray(scales[1][:, j])[None, :].repeat(9, axis=0))
        testing.assert_close(d, a, b, **options)
        testing.assert_close(d, a, b, emulate="bits", **options)
        bytes_ = {"device": device, "scale_a": scales[0].view(np.uint8), "scale_b": scales[1].view(np.uint8)}
        self.same(testing.tolerance(a, b, **options).limits, testing.tolerance(a, b, **bytes_).limits)
        whole = [x.astype(np.float32) for x in (a, b)]
        whole[0] *= np.repeat(scales[0].astype(np.float32), 32, axis=1)
        whole[1] *= np.repeat(scales[1].astype(np.float32), 32, axis=0)
        testing.assert_close(d, *whole, device=device)
        self.assertTrue((testing.tolerance(a, b, **options).limits < testing.tolerance(*whole, device).limits).all())
        wrong = scales[0].astype(np.float32)
        wrong[3, 1] *= 2
        with self.assertRaisesRegex(AssertionError, r"products 32 to 63 of 128 are multiplied by a factor of 0.5, in row 3 of A"):
            testing.assert_close(d, a, b, device, scale_a=wrong, scale_b=scales[1])
        with self.assertRaisesRegex(ValueError, "takes no scales"):
            testing.assert_close(d, a, b, device="hopper", scale_a=wrong, scale_b=scales[1])

    def test_faults(self):
        sound = roundoff.gemm(self.a, self.b)
        swapped = sound[[1, 0, *range(2, 33)]]
        flipped = sound.copy()
        flipped.view(np.uint32)[3, 4] ^= 1 << 3
        for words, got, options in [
            ("rows 0 and 1 are swapped", swapped, {}), ("the last 22 of 150 products are missing", roundoff.gemm(self.a[:, :128], self.b[:128]), {}),
            (r"one bit is flipped, of binary32, in place 3 of \[3, 4\]", flipped, {"emulate": "bits"}),
            ("rows 0 and 1 are swapped", swapped, {"want": roundoff.gemm(self.a, self.b, "ampere"), "want_device": "ampere"}),
        ]:  # fmt: skip
            with self.subTest(words), self.assertRaisesRegex(AssertionError, words):
                testing.assert_close(got, self.a, self.b, **options)
        with self.assertRaisesRegex(AssertionError, r"(?s)all others have the bits of the device.*one bit is flipped, of binary32, in place 3 of \[3, 4\]"):
            testing.assert_close(flipped, self.a, self.b)
        self.assertTrue(testing.compare(flipped, self.a, self.b, orders="mixed"))
        found = testing.compare(swapped, self.a, self.b)
        self.assertEqual((found.outputs, found.causes[0].cause, str(found)), (33 * 21, "rows", repr(found)))
        self.assertIn(found.worst[0].row, (0, 1))

    def test_refused(self):
        d = roundoff.gemm(self.a, self.b)
        cases = [
            (TypeError, "got is None", {"got": None}),
            (ValueError, r"got has the shape \(32, 21\), want \(33, 21\)", {"got": d[:32]}),
            (TypeError, "got has the dtype bool", {"got": d > 0}),
            (ValueError, 'no device "pascal"', {"device": "pascal"}),
            (ValueError, "confidence is 1.0", {"confidence": 1}),
            (ValueError, 'confidence "some"', {"confidence": "some"}),
            (ValueError, "split_k is 0", {"split_k": 0}),
            (ValueError, 'orders "all", want split, mixed, machine or any', {"orders": "all"}),
            (ValueError, "orders any goes without", {"orders": "any", "split_k": 2}),
            (ValueError, "want_device is 'volta', and want is None", {"want_device": "volta"}),
            (ValueError, "want goes|emulate goes without", {"want": d, "emulate": "bits"}),
            (ValueError, 'emulate "all", want sums or bits', {"emulate": "all"}),
            (ValueError, "rounds nothing", {"device": "sapphirerapids", "in_": "int8"}),
        ]  # fmt: skip
        for error, words, options in cases:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                testing.assert_close(**{"got": d, "a": self.a, "b": self.b, **options})

    def test_pytest(self):
        try:
            import pytest  # noqa: F401
        except ImportError:
            self.skipTest("there is no pytest")
        dir = folder(self)
        (dir / "test_kernel.py").write_text(
            textwrap.dedent("""
                import numpy as np, roundoff

                a, b = (np.random.default_rng(s).standard_normal(n).astype(np.float16) for s, n in ((1, (9, 200)), (2, (200, 7))))

                def test_sound(roundoff_close):
                    roundoff_close(roundoff.gemm(a, b, "ampere", split_k=2), a, b)

                def test_columns(roundoff_close):
                    roundoff_close(roundoff.gemm(a, b, "ampere")[:, ::-1], a, b)
            """)
        )
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--roundoff-device", "ampere", "--roundoff-confidence", "always", dir],
            capture_output=True, text=True, timeout=60, cwd=dir,
        )  # fmt: skip
        self.assertIn("1 failed, 1 passed", run.stdout, run.stdout + run.stderr)
        self.assertIn("columns 0 and 6 are swapped", run.stdout)
        self.assertNotIn("raise AssertionError", run.stdout)  # the line of the test is shown, and none of the library

    def test_without_pytest(self):
        program = "import sys; sys.modules['pytest'] = None; import roundoff.testing; print('imported')"
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.stdout, "imported\n", run.stderr)
