"""Checks of a course: what they say of right and wrong answers, and what tools compute."""

import contextlib
import io
import math
import os
import signal
import socket
import sys
import threading
import time
import unittest
from fractions import Fraction
from unittest import mock

import numpy as np
from support import folder

from roundoff import _examine, course


def ulp(f, x):
    return math.ldexp(1, max(math.frexp(x)[1] - 1, f.emin) - f.precision + 1)


class Checks(unittest.TestCase):
    def says(self, want, name, function, seed=None):
        with self.assertRaises(course.Wrong) as raised:
            course.check(name, function, seed)
        self.assertEqual(str(raised.exception), want)
        self.assertEqual(raised.exception._render_traceback_(), [want])

    def test_right_answers(self):
        for kind in (float, np.float32, np.float64, np.array, lambda v: int(v) if v == int(v) else v):
            course.check("ulp", lambda f, x: kind(ulp(f, x)), 1)
        course.check("relative_error", lambda computed, exact: Fraction(computed) / exact - 1, 1)
        course.check("fma_delta", lambda f, a, b, c: Fraction(f.fma(a, b, c)) / (Fraction(a) * Fraction(b) + Fraction(c)) - 1, 1)
        course.check("violation", lambda: (course.uniform("binary16", 4096, 1), course.uniform("binary16", 4096, 2)))
        course.check("forward_bound", lambda m, a, b, c: (m.product * abs(a * b) + m.addend * abs(c)) / abs(a * b + c), 1)

        def recursive(add, x):
            self.assertEqual((type(x), x.dtype), (np.ndarray, np.float64))
            s = x[0]
            for v in x[1:]:
                s = add(s, v)
            return s

        course.check("recursive", recursive, 1)

    def test_wrong_answers(self):
        # The sentences of Go, as its examples show them.
        self.says("course: UnitRoundoff(1) = 1, want 0.5", "unit_roundoff", lambda p: math.ldexp(1, 1 - p))
        self.says("course: Ulp(e5m2, 1.52587890625e-05) = 0.25, want 1.52587890625e-05", "ulp", lambda f, x: 2 * f.unit_roundoff, 1)
        self.says("course: Recursive(add, [-0.0210723876953125 0.58056640625]) calls add 0 times, too few", "recursive", lambda add, x: x[0], 1)
        self.says("course: TwoSum(add, 1, 0.00048828125) = 1, 0, which do not add up to a + b", "two_sum", lambda add, a, b: (add(a, b), 0), 1)
        self.says("course: Ulp(e5m2, 1.52587890625e-05) = NaN, want 1.52587890625e-05", "ulp", lambda f, x: math.nan, 1)
        self.says("course: Ulp(e5m2, 1.52587890625e-05) = -Inf, want 1.52587890625e-05", "ulp", lambda f, x: -np.inf, 1)

    def test_no_answers(self):
        def answer(f, x):
            return value

        for value, want in (
            (None, "answer returned None, want a float"),
            ("1", "answer returned '1', want a float"),
            (True, "answer returned True, want a float"),
            (1j, "answer returned 1j, want a float"),
            ([1.0], "answer returned [1.0], want a float"),
            (np.ones(2), "answer returned array([1., 1.]), want a float"),
            (Fraction(1, 3), "answer returned Fraction(1, 3), want a float"),
            (2**53 + 1, "answer returned 9007199254740993, want a float of 64 bits"),
            (10**5000, "answer returned a int, whose repr raises ValueError, want a float of 64 bits"),
        ):
            self.says("TypeError: " + want, "ulp", answer, 1)
        vectors = "TypeError: <lambda> returned as value 1 "
        for value, want in (
            (np.zeros((2, 2)), "an array of the shape (2, 2) and the dtype float64, want one dimension of floats"),
            (np.zeros(2, complex), "an array of the shape (2,) and the dtype complex128, want one dimension of floats"),
            (np.array([None]), "an array of the shape (1,) and the dtype object, want one dimension of floats"),
            ([1.0, None], "a list with None, want a float"),
            (1.0, "1.0, want a list or an array of floats"),
            (np.zeros(1 << 20), "1048576 values, of which 524288 at most are sent"),
        ):
            self.says(vectors + want, "violation", lambda: (value, [1.0]))
        self.says("TypeError: <lambda> returned 3, want 2 values", "violation", lambda: 3)
        self.says("TypeError: <lambda> returned 0.5, want a Fraction", "relative_error", lambda computed, exact: 0.5, 1)
        self.says("TypeError: <lambda> returned 3.0, want an integer", "exponent", lambda x, y, c: 3.0, 1)
        self.says("TypeError: <lambda> returned None, want a Chart of roundoff.course", "spacing", lambda: None)
        self.says("TypeError: the function takes 3 arguments, not 1 (line 1 of <lambda>)", "fraction_bits", lambda dot: dot(1.0))

    def test_what_is_raised(self):
        def answer(f, x):
            y = 0
            return x / y

        self.says("ZeroDivisionError: float division by zero (line 3 of answer)", "ulp", answer, 1)

        def leaving(f, x):
            raise SystemExit(0)

        self.says("SystemExit: 0 (line 2 of leaving)", "ulp", leaving, 1)
        lying = type("Lying", (Exception,), {"__str__": lambda e: 1 / 0})

        def lies(f, x):
            raise lying

        self.says("Lying: it does not say what (line 2 of lies)", "ulp", lies, 1)
        with self.assertRaises(course.Wrong) as raised:
            course.check("ulp", lambda f: 1.0, 1)
        self.assertIn("takes 1 positional argument but 2 were given", str(raised.exception))

    def test_an_endless_answer_is_interrupted(self):
        def endless(p):
            while True:
                pass

        def sleeps(p):
            time.sleep(987)

        for f in (endless, sleeps):
            start = time.monotonic()
            self.says("course: UnitRoundoff has not returned after 15s", "unit_roundoff", f)
            self.assertLess(time.monotonic() - start, 60)

    def test_an_endless_answer_is_interrupted_where_SIGINT_is_ignored(self):
        was = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.says("course: UnitRoundoff has not returned after 15s", "unit_roundoff", lambda p: time.sleep(60))
            self.assertIs(signal.getsignal(signal.SIGINT), signal.SIG_IGN)
        finally:
            signal.signal(signal.SIGINT, was)

    def test_ctrl_c(self):
        with self.assertRaises(KeyboardInterrupt):
            course.check("unit_roundoff", lambda p: signal.raise_signal(signal.SIGINT))

    def test_what_is_printed_stays_here(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            course.check("unit_roundoff", lambda p: print("mark") or 2.0**-p)
        self.assertEqual(out.getvalue(), "mark\n" * 200)

    def test_bad_calls(self):
        for error, want, call in (
            (ValueError, "examiner: nothing is no check of pkg/course", lambda: course.check("nothing", ulp)),
            (ValueError, "examiner: CheckUlp of 1 arguments, want 2", lambda: course.check("ulp", ulp)),
            (ValueError, "name is 'ulp\"', want the name of a check, such as 'unit_roundoff'", lambda: course.check('ulp"', ulp, 1)),
            (ValueError, "seed is -1, want an integer of 0 or more", lambda: course.check("ulp", ulp, -1)),
            (ValueError, "examiner: strconv.ParseUint: parsing \"99999999999999999999\": value out of range", lambda: course.check("ulp", ulp, 10**20 - 1)),
            (TypeError, "function is 3, want the function that answers 'ulp'", lambda: course.check("ulp", 3, 1)),
            (ValueError, "format is 'binary17', want bfloat16, binary16, binary32, binary64, e5m2, tf32", lambda: course.uniform("binary17", 1, 1)),
            (TypeError, "an argument is 1.5, want an integer", lambda: course.uniform("binary16", 1.5, 1)),
            (TypeError, "an argument is -1, want an integer of 64 bits, 0 or more", lambda: course.uniform("binary16", 1, -1)),
            (ValueError, "course: Uniform: n = -1, want 0 or more", lambda: course.uniform("binary16", -1, 1)),
        ):
            with self.assertRaises(error) as raised:
                call()
            self.assertEqual(str(raised.exception), want)

    def test_without_the_library(self):
        tools = course._Tools()
        self.addCleanup(tools.end)
        with mock.patch.object(course, "LIBRARY", "/nowhere/library.so"):
            for ask in (lambda: course.check("ulp", ulp, 1), lambda: tools("lengths")):
                with self.assertRaisesRegex(ImportError, "/nowhere/library.so"):
                    ask()
        with mock.patch.object(sys, "executable", "/nowhere/python"), self.assertRaisesRegex(ImportError, "/nowhere/python"):
            course.check("ulp", ulp, 1)


class Answers(unittest.TestCase):
    """What a grader sees."""

    def test_over_a_socket(self):
        place = folder(self)
        with socket.socket(socket.AF_UNIX) as waiting:
            waiting.bind(str(place / "check-ulp"))
            waiting.listen(1)
            said = []

            def grade():
                connection, _ = waiting.accept()
                with connection, connection.makefile("rwb") as lines:
                    lines.write(b'{"call":0,"type":"func(float64, []float64) (float64, *big.Rat)","args":["0.5",["1","+Inf"]]}\n')
                    lines.flush()
                    said.append(lines.readline())

            grader = threading.Thread(target=grade)
            grader.start()
            with mock.patch.dict(os.environ, {course.EXAMINATION: str(place)}):
                course.answer("check-ulp", lambda x, y: (x + y[0], Fraction(1, 3)))
                grader.join()
                self.assertEqual(said, [b'{"results": ["1.5", "1/3"]}\n'])
                with self.assertRaisesRegex(RuntimeError, "nobody waits for an answer to check-round"):
                    course.answer("check-round", ulp)


class Tools(unittest.TestCase):
    def test_formats(self):
        f = course.formats()["binary16"]
        rng = np.random.default_rng(1)
        for a, b in rng.normal(0, 100, (50, 2)).astype(np.float16).astype(float):
            self.assertEqual(f.add(a, b), float(np.float16(a) + np.float16(b)))
            self.assertEqual(f.mul(a, b), float(np.float16(a) * np.float16(b)))
            self.assertEqual(f.mac(a, b, 1.0), float(np.float16(a) * np.float16(b) + np.float16(1)))
            self.assertEqual(f.round(a / 3), float(np.float16(a / 3)))
            self.assertEqual(f.fma(a, b, 1.0), float(np.float16(a * b + 1.0)))  # the sum has at most 53 bits
            t = f.truncate(a / 3)
            self.assertTrue(abs(t) <= abs(a / 3) and abs(t - a / 3) < ulp(f, a / 3))
        self.assertEqual((f.unit_roundoff, f.max, f.min_normal, f.min_subnormal), (2.0**-11, 65504.0, 2.0**-14, 2.0**-24))

    def test_data(self):
        x = course.uniform("binary16", 1000, 3)
        np.testing.assert_array_equal(x, x.astype(np.float16))
        self.assertTrue(0 <= x.min() and x.max() <= 1 and abs(x.mean() - 0.5) < 0.05)
        a, b, c = course.operands(10, 1)
        self.assertTrue(all(((1 <= v) & (v <= 2)).all() and (v == v.astype(np.float32)).all() for v in (a, b, c)))
        np.testing.assert_array_equal(course.binades(), 1.5 * 2.0 ** np.arange(-40, 41, 2))
        x, y = course.distribution([3.0, 1.0, 0.0, 3.0, 2.0])
        self.assertEqual((list(x), list(y)), ([1, 2, 3], [0.4, 0.6, 1]))

    def test_constants(self):
        u, n, lam = 2.0**-11, 100, 3.0
        self.assertAlmostEqual(course.gamma(n, u), n * u / (1 - n * u), delta=1e-15)
        self.assertEqual(course.gamma(3000, u), math.inf)
        self.assertAlmostEqual(course.gamma_tilde(n, u, lam), math.expm1(lam * math.sqrt(n) * u + n * u * u / (1 - u)), delta=1e-15)
        self.assertAlmostEqual(course.higham_mary_lambda(0.99, u, n), math.sqrt(2 * math.log(2 * n / 0.01)) / (1 - u), delta=1e-12)
        self.assertEqual(course.fma_bound(u)[:2], (u, u))
        v, w = 2.0**-11, 2.0**-24
        g, z = 2 * v / (1 - 2 * v), 2 * w + w * w
        self.assertAlmostEqual(course.mpfma_bound().product, g + z + g * z, delta=1e-18)
        self.assertEqual(course.backward_dot(11.0, [1.0, 2.0], [4.0, 3.0]), 0.1)

    def test_threads_and_an_end(self):
        found = []
        threads = [threading.Thread(target=lambda: found.extend(course.gamma(k, 0.001) for k in range(1, 100))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(found), sorted(4 * [course.gamma(k, 0.001) for k in range(1, 100)]))
        course._ask.process.kill()
        course._ask.process.wait()
        self.assertEqual(course.gamma(1, 0.5), 1.0)  # by a new one

    def test_charts(self):
        c = course.Chart("a < b", "x", "y")
        c.line("γ", [1, 10, 100], [1, 0.1, math.inf], color="blue", dashed=True)
        c.vertical("v", 3)
        self.assertEqual(c._csv().splitlines(), ["panel,series,kind,x,y,text", ",γ,line,1.0,1.0,", ",γ,line,10.0,0.1,", ",γ,line,100.0,inf,", ",v,vertical,3.0,0.0,"])
        svg = c._repr_svg_()
        self.assertIn("a &lt; b", svg)
        self.assertIn('d="M70.0 40.0L280.0 350.0" fill="none"', svg)  # the point at infinity is left out
        for error, call in (
            ("color is 'pink'", lambda: c.line("l", [1], [1], color="pink")),
            ("'l' has 2 x and 1 y, want as many", lambda: c.line("l", [1, 2], [1])),
        ):
            with self.assertRaisesRegex(ValueError, error):
                call()
        self.assertIn("</svg>", course.Chart("empty", "x", "y", share=True)._repr_svg_())


class Notation(unittest.TestCase):
    def test_signatures(self):
        for text, want in (
            ("func()", ("func", (), ())),
            ("func() examine.Sheet", ("func", (), ("examine.Sheet",))),
            ("func(func(float64, float64) float64, []float64) float64", ("func", (("func", ("float64", "float64"), ("float64",)), ("[]", "float64")), ("float64",))),
            ("func(f.F{string, int}) (*big.Rat, *big.Rat)", ("func", (("f.F", ("string", "int")),), ("*big.Rat", "*big.Rat"))),
        ):
            self.assertEqual(_examine.signature(text), want)
