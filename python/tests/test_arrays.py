"""What is taken, and what is refused: by an exception that names the argument and its value, with nothing written."""

import ml_dtypes
import numpy as np

import roundoff
from roundoff import _library
from support import Test

A = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
B = np.arange(8, dtype=np.float32).reshape(4, 2) - 3


class Interface:
    """Something with the array interface alone."""

    def __init__(self, x):
        self.__array_interface__ = x.__array_interface__
        self.kept = x


class DLPack:
    """Something with DLPack alone."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class Taken(Test):
    def setUp(self):
        self.want = roundoff.gemm(A, B)

    def test_shapes(self):
        self.assertEqual((self.want.shape, self.want.dtype), ((3, 2), np.float32))
        self.same(roundoff.gemm(A[0], B), self.want[0])
        self.same(roundoff.gemm(A, B[:, 1]), self.want[:, 1])
        self.assertEqual(roundoff.gemm(A[0], B[:, 0]).shape, ())
        self.same(roundoff.gemm(A.tolist(), B.tolist()), self.want)
        self.same(roundoff.gemm(np.ones((1, 1)), np.ones((1, 1))), np.ones((1, 1), np.float32))

    def test_strides(self):
        wide = np.zeros((6, 12), np.float32)
        wide[::2, ::-3] = A
        for a in (wide[::2, ::-3], np.asfortranarray(A), A[::-1][::-1], np.lib.stride_tricks.as_strided(A, A.shape, A.strides)):
            self.same(roundoff.gemm(a, B), self.want)
            self.same(roundoff.gemm(a, np.asfortranarray(B)), self.want)
        one = np.broadcast_to(np.float32(2), (3, 4))
        self.same(roundoff.gemm(one, B), roundoff.gemm(np.full((3, 4), 2, np.float32), B))
        bytes_ = np.zeros(A.nbytes + 1, np.uint8)
        unaligned = bytes_[1:].view(np.float32).reshape(A.shape)
        unaligned[:] = A
        self.same(roundoff.gemm(unaligned, B), self.want)

    def test_no_copy(self):
        # What lies in one piece is read where it lies: the library is given this address.
        seen = []
        ask = _library.ask
        _library.ask = lambda name, question, matrices, *rest: (seen.extend(m.data for m in matrices if m), ask(name, question, matrices, *rest))[1]
        try:
            out = np.empty((3, 2), np.float32)
            roundoff.gemm(A, B, out=out)
        finally:
            _library.ask = ask
        self.assertEqual(seen, [A.ctypes.data, B.ctypes.data, out.ctypes.data])

    def test_interfaces(self):
        self.same(roundoff.gemm(Interface(A), B), self.want)
        self.same(roundoff.gemm(A, DLPack(B)), self.want)
        read_only = A.copy()
        read_only.flags.writeable = False
        self.same(roundoff.gemm(read_only, B), self.want)
        try:
            import pandas
        except ImportError:
            return
        self.same(roundoff.gemm(pandas.DataFrame(A), B), self.want)

    def test_out(self):
        big = np.full((6, 6), 7, np.float32)
        out = big[1:6:2, 5:1:-3]
        self.assertIs(roundoff.gemm(A, B, out=out), out)
        self.same(np.ascontiguousarray(out), self.want)
        self.assertEqual(np.count_nonzero(big == 7), 36 - 6)
        for kind in (np.float64, np.float16):
            out = np.empty((3, 2), kind)
            roundoff.gemm(A, B, out=out, out_format="binary16")
            np.testing.assert_array_equal(out.astype(np.float32), roundoff.round(self.want, "binary16"))

    def test_c(self):
        c = np.ones((3, 2))
        self.same(roundoff.gemm(A, B, c=c), self.want + np.float32(1))
        self.same(roundoff.gemm(A, B, c=c, alpha=2, beta=-3), 2 * self.want - np.float32(3))

    def test_nan_and_infinity(self):
        a = A.copy()
        a[0, 0], a[1, 1] = np.nan, np.inf
        got = roundoff.gemm(a, B)
        self.assertTrue(np.isnan(roundoff.dot(A[0], A[0], c=float("nan"))))
        self.assertTrue(np.isnan(got[0]).all() and not np.isfinite(got[1]).any() and np.isfinite(got[2]).all())

    def test_exact(self):
        rng = np.random.default_rng(5)
        a, b = rng.integers(-9, 9, (20, 30)).astype(np.float32), rng.integers(-9, 9, (30, 10)).astype(np.float64)
        d, sizes = roundoff.exact(a, b, abs=True)
        self.same(d, a.astype(np.float64) @ b)
        self.same(sizes, np.abs(a).astype(np.float64) @ np.abs(b))

    def test_round(self):
        x = np.random.default_rng(2).standard_normal(1000).astype(np.float32)
        self.same(roundoff.round(x, "bfloat16"), x.astype(ml_dtypes.bfloat16).astype(np.float32))
        self.same(roundoff.round(x[:, None], "e5m2"), x[:, None].astype(ml_dtypes.float8_e5m2).astype(np.float32))
        self.same(roundoff.round(x.astype(np.float64), "binary16"), x.astype(np.float16).astype(np.float64))
        first = roundoff.round(x, "e4m3", stochastic=8, seed=3)
        self.same(first, roundoff.round(x, "e4m3", stochastic=8, seed=np.int64(3)))
        self.assertFalse(np.array_equal(first, roundoff.round(x, "e4m3", stochastic=8, seed=4)))

    def test_dot(self):
        self.same(roundoff.dot(A, A[0], out=np.empty(3, np.float32)), roundoff.gemm(A, A[0]))
        self.same(roundoff.dot(A, A, c=[1, 2, 3.0]), np.diag(roundoff.gemm(A, A.T)) + np.array([1, 2, 3], np.float32))
        for c in (1, 1.0, np.float32(1), np.ones(()), [1]):
            self.same(roundoff.dot([2.0], [3.0], c=c, out=np.empty(1, np.float32)), np.full(1, 7, np.float32))
        self.assertEqual(roundoff.dot([1.0], [2.0], "hopper", in_="binary64", out_format="binary64").dtype, np.float64)

    def test_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("there is no pandas")
        frame = roundoff.bounds(k=64).frame()
        self.assertEqual(frame.shape, (len(roundoff.bounds(k=64)), 9))
        self.assertEqual(frame["bound"][0], roundoff.bounds(k=64)[0].bound)


class Refused(Test):
    def test_all(self):
        f32 = np.float32
        locked = np.zeros((3, 2), f32)
        locked.flags.writeable = False
        both = np.zeros(32, f32)
        square = np.ones((4, 4), f32)
        nan = np.full((3, 4), np.nan)
        cases = [
            (TypeError, "a is None", lambda: roundoff.gemm(None, B)),
            (TypeError, "b is 'text'", lambda: roundoff.gemm(A, "text")),
            (TypeError, "a has the dtype int64", lambda: roundoff.gemm(A.astype(np.int64), B)),
            (TypeError, "a has the dtype complex64", lambda: roundoff.gemm(A.astype(np.complex64), B)),
            (TypeError, "a has the dtype object", lambda: roundoff.gemm(A.astype(object), B)),
            (TypeError, "a has the dtype bool", lambda: roundoff.gemm(A > 0, B)),
            (TypeError, "a has the dtype >f4", lambda: roundoff.gemm(A.astype(">f4"), B)),
            (TypeError, "a is a MaskedArray", lambda: roundoff.gemm(np.ma.array(A, mask=A > 1), B)),
            (TypeError, "b is a matrix", lambda: roundoff.gemm(A, np.matrix(B))),
            (ValueError, r"a has the shape \(1, 3, 4\)", lambda: roundoff.gemm(A[None], B)),
            (ValueError, r"a has the shape \(\)", lambda: roundoff.gemm(np.float32(1) * np.ones(()), B)),
            (ValueError, r"a has the shape \(0, 4\)", lambda: roundoff.gemm(A[:0], B)),
            (ValueError, r"a has the shape \(3, 0\)", lambda: roundoff.gemm(A[:, :0], B[:0])),
            (ValueError, r"a has the shape \(3, 4\) and b \(3, 4\)", lambda: roundoff.gemm(A, A)),
            (ValueError, 'no device "pascal"', lambda: roundoff.gemm(A, B, "pascal")),
            (ValueError, 'no format "e9"', lambda: roundoff.gemm(A, B, in_="e9")),
            (TypeError, "device is 3", lambda: roundoff.gemm(A, B, 3)),
            (TypeError, "in_ is 8", lambda: roundoff.gemm(A, B, in_=("e4m3", 8))),
            (TypeError, "split_k is 1.5", lambda: roundoff.gemm(A, B, split_k=1.5)),
            (ValueError, "split_k is 0", lambda: roundoff.gemm(A, B, split_k=0)),
            (ValueError, "Promote = 5", lambda: roundoff.gemm(A, B, promote=5)),
            (ValueError, "alpha is nan", lambda: roundoff.gemm(A, B, alpha=float("nan"))),
            (TypeError, "alpha is 'x'", lambda: roundoff.gemm(A, B, alpha="x")),
            (ValueError, "beta is 2", lambda: roundoff.gemm(A, B, beta=2)),
            (ValueError, r"c has the shape \(2, 2\)", lambda: roundoff.gemm(A, B, c=np.ones((2, 2)))),
            (TypeError, "out is 1", lambda: roundoff.gemm(A, B, out=1)),
            (TypeError, "out has the dtype int32", lambda: roundoff.gemm(A, B, out=np.zeros((3, 2), np.int32))),
            (TypeError, "out has the dtype >f4", lambda: roundoff.gemm(A, B, out=np.zeros((3, 2), ">f4"))),
            (ValueError, r"out has the shape \(2, 3\)", lambda: roundoff.gemm(A, B, out=np.zeros((2, 3), f32))),
            (ValueError, "out is read-only", lambda: roundoff.gemm(A, B, out=locked)),
            (ValueError, "out overlaps", lambda: roundoff.gemm(square, square, out=square)),
            (ValueError, "out overlaps", lambda: roundoff.gemm(both[:16].reshape(4, 4), square, out=both[8:24].reshape(4, 4))),
            (ValueError, "a is 1 × 2147483649, want", lambda: roundoff.gemm(np.broadcast_to(f32(1), (1, (1 << 31) + 1)), np.broadcast_to(f32(1), ((1 << 31) + 1, 1)))),
            (ValueError, r"a\[0, 0\] is NaN", lambda: roundoff.exact(nan, B)),
            (ValueError, r"x has the shape \(4,\) and y \(3,\)", lambda: roundoff.dot(A[0], B[:3, 0])),
            (ValueError, "scale_x, scale_y: hopper", lambda: roundoff.dot(A[0], A[0], scale_x=np.ones(1, f32))),
            (ValueError, "scale_x is 1 × 2", lambda: roundoff.dot(A[0], A[0], "blackwell-tcgen05-mxe4m3-binary32", scale_x=np.ones(2, f32))),
            (TypeError, "c has the dtype <U1", lambda: roundoff.dot(A[0], A[0], c="1")),
            (ValueError, r"c has the shape \(2,\)", lambda: roundoff.dot(A, A[0], c=np.ones(2, f32))),
            (ValueError, "scale_x is of bytes", lambda: roundoff.dot(A[0], A[0], scale_x=np.ones(1, np.uint8))),
            (ValueError, 'format is "e9"', lambda: roundoff.round(A, "e9")),
            (ValueError, 'mode is "up"', lambda: roundoff.round(A, "e4m3", mode="up")),
            (ValueError, "seed is -1", lambda: roundoff.round(A, "e4m3", seed=-1)),
            (TypeError, "seed is 0.5", lambda: roundoff.round(A, "e4m3", seed=0.5)),
            (ValueError, "stochastic is 33", lambda: roundoff.round(A, "e4m3", stochastic=33)),
            (ValueError, "recipe is 'none'", lambda: roundoff.quantise(A, "none")),
            (ValueError, r"b\[1, 0\] is 0.1, want a number of binary32",
             lambda: roundoff.gemm([1, 2], [0.5, 0.1], "hopper", in_="binary64", out_format="binary64")),
            (ValueError, "side is 'c'", lambda: roundoff.quantise(A, "int8-row", side="c")),
            (ValueError, "row is 3", lambda: roundoff.trace(A, B, row=3)),
            (ValueError, "k is -1", lambda: roundoff.bounds(k=-1)),
            (ValueError, "b is None", lambda: roundoff.bounds(A)),
            (ValueError, "m, n and k are 3", lambda: roundoff.bounds(A, B, m=3)),
            (ValueError, "dist", lambda: roundoff.bounds(dist="U(1)")),
            (ValueError, "tolerance 0", lambda: roundoff.advise(0)),
            (TypeError, "tolerance is 'small'", lambda: roundoff.advise("small")),
            (ValueError, "k 0", lambda: roundoff.predict(0)),
            (ValueError, "model is None", lambda: roundoff.audit()),
            (FileNotFoundError, "none.onnx", lambda: roundoff.audit(model="none.onnx")),
            (roundoff.Error, "test_arrays.py", lambda: roundoff.audit(model=__file__)),
        ]
        for kind, said, call in cases:
            with self.subTest(said):
                with self.assertRaisesRegex(kind, said) as caught:
                    call()
                self.assertIs(type(caught.exception), kind)
        self.same(locked, np.zeros((3, 2), f32))
        self.same(both, np.zeros(32, f32))
        self.same(square, np.ones((4, 4), f32))
