"""Checks of the assignments of a course, and what answers to them may use.

>>> import roundoff.course as course
>>> course.check("unit_roundoff", lambda p: 2.0**-p)
>>> course.check("unit_roundoff", lambda p: 2.0 ** (1 - p))
Traceback (most recent call last):
roundoff.course.Wrong: course: UnitRoundoff(1) = 1, want 0.5

Nothing is computed or compared here: all is asked of the examiner, another process in which the library of Go runs the checks
of `pkg/course` and calls the student's function in this one. A function gets its numbers as floats and ints, its vectors as
arrays of float64, exact numbers as `fractions.Fraction`, a format as `Format`.
"""

from __future__ import annotations

import atexit
import functools
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _examine, _library
from ._chart import Chart

__all__ = [
    "Chart", "Format", "MACBound", "Wrong", "answer", "backward_dot", "binades", "check", "distribution", "fma_bound", "formats",
    "gamma", "gamma_tilde", "higham_mary_lambda", "ieee_formats", "lengths", "mpfma_bound", "operands", "uniform",
]  # fmt: skip

EXAMINATION = "ROUNDOFF_EXAMINATION"  # the folder in which a grader waits for answers
LIBRARY = Path(__file__).with_name(_library.NAME)

UNOPENED = 127  # the status of an examiner that could not open it

# What makes a new process of Python the examiner; the library ends it.
_EXAMINER = f"""
import ctypes, sys
try:
    library = ctypes.CDLL(sys.argv[1])
except OSError as e:
    print(e, file=sys.stderr)
    sys.exit({UNOPENED})
library.roundoff_examine(sys.argv[2].encode())
"""


class Wrong(AssertionError):
    """What a check says of an answer."""

    def _render_traceback_(self) -> List[str]:
        return [str(self)]  # in a notebook: of the ways of this module nothing can be learned


def check(name: str, function: Callable[..., Any], seed: Optional[int] = None) -> None:
    """Checks the function that answers a question, with inputs drawn from the seed if the check takes one.

    It returns if every answer is right. Otherwise it raises Wrong with the first call that is wrong, or with what the
    function raised. One that has not returned after 15 seconds, a figure after 45, is interrupted.

    >>> check("cut", lambda v, unit: v // unit * unit, 1)
    Traceback (most recent call last):
    roundoff.course.Wrong: course: Cut(-6.3861525665558e-05, 0.0625) = -0.0625, want 0
    """
    if not callable(function):
        raise TypeError(f"function is {_examine.short(function)}, want the function that answers {name!r}")
    if not isinstance(name, str) or not re.fullmatch("[a-z0-9_]+", name):
        raise ValueError(f"name is {name!r}, want the name of a check, such as 'unit_roundoff'")
    if seed is not None and (type(seed) is not int or seed < 0):
        raise ValueError(f"seed is {seed!r}, want an integer of 0 or more")
    cell = f'course.check("{name}", f{"" if seed is None else f", {seed}"})'
    with _started(cell) as examiner:
        try:
            _serve(examiner.stdout, examiner.stdin, function)
        finally:
            for file in (examiner.stdin, examiner.stdout):
                _close(file)
        told = _said(examiner)
    if examiner.returncode != 0:
        lines = [line for line in told.splitlines() if line.startswith("panic: ")]
        if not lines:
            raise ValueError(told or f"the examiner ended with status {examiner.returncode}")
        raise Wrong(_told(lines[0]))


def answer(check: str, function: Callable[..., Any]) -> None:
    """Lets the check of a grader call the function, over a socket, until it is finished. It replaces `check` when a submission
    is graded: the mark is decided by the process of the grader, and nothing here can set it.

    Raises RuntimeError where nobody waits for this check.

    >>> answer("check-ulp", lambda f, x: 1.0)
    Traceback (most recent call last):
    RuntimeError: course: nobody waits for an answer to check-ulp: ROUNDOFF_EXAMINATION is not set
    """
    folder = os.environ.get(EXAMINATION)
    if not folder:
        raise RuntimeError(f"course: nobody waits for an answer to {check}: {EXAMINATION} is not set")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(os.path.join(folder, check))
        except OSError as e:
            raise RuntimeError(f"course: nobody waits for an answer to {check}: {e}") from None
        with connection.makefile("rb") as reading, connection.makefile("wb") as writing:
            _serve(reading, writing, function)


def _told(line: str) -> str:
    """Returns the text of a panic of Go, without what Go adds."""
    return re.sub(r" \[recovered.*\]$", "", line[len("panic: ") :])


def _close(file: Any) -> None:
    try:
        file.close()
    except OSError:
        pass  # the other end has gone


def _started(cell: str, apart: bool = False) -> subprocess.Popen:
    """Returns the examiner, started with a cell, or with "" to compute what it is asked for."""
    line = [sys.executable, "-I", "-S", "-c", _EXAMINER, str(LIBRARY), cell]
    try:
        return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=apart)
    except OSError as e:
        raise ImportError(f"the checks need another process of Python, and {sys.executable!r} cannot be started: {e}") from e


def _said(examiner: Any) -> str:
    """Returns what an examiner says at its end. Raises ImportError if it had no library."""
    told = examiner.stderr.read().decode(errors="replace").strip()
    if examiner.wait() == UNOPENED:
        raise ImportError(f"roundoff's library cannot be opened: {told}")
    return told


def _serve(reading: Any, writing: Any, function: Callable[..., Any]) -> None:
    """Answers calls of the function until the other end closes the connection, and interrupts the function if it runs then."""
    main = threading.current_thread() is threading.main_thread()
    over, lock, runs = threading.Event(), threading.Lock(), [False]

    def running(on: bool) -> None:
        with lock:
            runs[0] = on

    def watch() -> None:
        poll = select.poll()
        poll.register(reading, 0)  # it wakes when the other end is closed
        while not over.is_set() and not poll.poll(500):
            pass
        with lock:
            if main and runs[0] and not over.is_set():
                over.set()
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # type: ignore[arg-type]

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    deaf = main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as in the background of a shell
    try:
        if deaf:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        _examine.Peer(reading, writing).serve(function, running)
    except _examine.Refused:
        pass  # it has gone, and says why elsewhere
    except KeyboardInterrupt:
        if not over.is_set():
            raise
    finally:
        if deaf:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        over.set()


class _Tools:
    """An examiner that computes what answers ask for, started when first used and ended with this process."""

    def __init__(self) -> None:
        self.lock, self.process, self.owner = threading.Lock(), None, 0

    def __call__(self, name: str, *arguments: Any) -> Any:
        with self.lock:
            try:
                if self.process is None or self.owner != os.getpid() or self.process.poll() is not None:
                    self.start()
                number, type_ = self.known[name]
                return self.peer.call(number, type_, *arguments)
            except _examine.Refused as e:
                raise ValueError(str(e)) from None
            except KeyboardInterrupt:  # between a question and its answer
                self.end()
                raise

    def start(self) -> None:
        self.end()
        self.process, self.owner = _started("", apart=True), os.getpid()  # apart: Ctrl-C is not for it
        self.peer = _examine.Peer(self.process.stdout, self.process.stdin)
        try:
            names, types = self.peer.call(0, _examine.signature("func() ([]string, []string)"))
        except _examine.Refused as e:
            raise ValueError(_said(self.process) or str(e)) from None
        self.known = {n: (i, _examine.signature(t)) for i, (n, t) in enumerate(zip(names, types), 1)}

    def end(self) -> None:
        if self.process is not None and self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
            for file in (self.process.stdin, self.process.stdout, self.process.stderr):
                _close(file)


_ask = _Tools()
_known = functools.lru_cache(maxsize=256)(_ask)  # what is asked often
atexit.register(_ask.end)


class Format(NamedTuple):
    """A number format: p = precision digits with the implicit one, exponents from emin to emax.

    >>> f = formats()["binary16"]
    >>> f.precision, f.max, f.min_normal, f.min_subnormal
    (11, 65504.0, 6.103515625e-05, 5.960464477539063e-08)
    >>> f.round(0.1), f.add(2048, 1), f.mul(0.1, 3), f.fma(0.1, 3, 1), f.mac(0.1, 3, 1)
    (0.0999755859375, 2048.0, 0.300048828125, 1.2998046875, 1.2998046875)
    """

    name: str
    precision: int
    emin: int
    emax: int
    specials: int
    overflow: int
    subnormals: int
    sign: int

    @property
    def max(self) -> float:
        """The greatest number."""
        return _known("max", self)

    @property
    def min_normal(self) -> float:
        """The least positive normal number, 2^emin."""
        return _known("min_normal", self)

    @property
    def min_subnormal(self) -> float:
        """The least positive number."""
        return _known("min_subnormal", self)

    @property
    def unit_roundoff(self) -> float:
        """u = 2^-p."""
        return _known("unit_roundoff", self)

    def round(self, x: float) -> float:
        """Returns fl(x), to nearest, ties to even."""
        return _ask("round", self, x)

    def truncate(self, x: float) -> float:
        """Returns x rounded toward zero."""
        return _ask("truncate", self, x)

    def add(self, a: float, b: float) -> float:
        """Returns fl(a + b)."""
        return _ask("add", self, a, b)

    def mul(self, a: float, b: float) -> float:
        """Returns fl(ab)."""
        return _ask("mul", self, a, b)

    def fma(self, a: float, b: float, c: float) -> float:
        """Returns fl(ab + c), of one rounding."""
        return _ask("fma", self, a, b, c)

    def mac(self, a: float, b: float, c: float) -> float:
        """Returns fl(fl(ab) + c), of two roundings."""
        return _ask("mac", self, a, b, c)


class MACBound(NamedTuple):
    """A bound on the error of a multiply-add, product |ab| + addend |c|, and the logarithm of the probability that it fails."""

    product: float
    addend: float
    failure: float


_examine.structs.update({"tcore.Format": Format, "roundoff.MACBound": MACBound})


def formats() -> dict:
    """Returns the formats that the assignments name, by their names.

    >>> sorted(formats())
    ['bfloat16', 'binary16', 'binary32', 'binary64', 'e5m2', 'tf32']
    """
    return {f.name: f for f in _ask("formats")}


def ieee_formats() -> List[Format]:
    """Returns the formats of assignment 1, which have subnormal numbers and infinities, and few enough numbers to list.

    >>> [f.name for f in ieee_formats()]
    ['e5m2', 'binary16', 'bfloat16']
    """
    return _ask("ieee_formats")


def _format(f: Any) -> Format:
    if isinstance(f, Format):
        return f
    known = formats()
    if f not in known:
        raise ValueError(f"format is {f!r}, want {', '.join(sorted(known))}")
    return known[f]


def uniform(format: Any, n: int, seed: int) -> np.ndarray:
    """Returns n numbers drawn uniformly from [0, 1) and rounded to the format, or to the one of that name. The same seed gives
    the same numbers on every machine, and in Go.

    >>> uniform("binary16", 3, 1)
    array([0.23840332, 0.50097656, 0.04998779])
    """
    return _ask("uniform", _format(format), n, seed)


def operands(n: int, seed: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns n triples of binary32 numbers drawn uniformly from [1, 2]: the data of assignment 3.

    >>> [len(x) for x in operands(10, 1)]
    [10, 10, 10]
    """
    return _ask("operands", n, seed)


def binades() -> np.ndarray:
    """Returns the numbers at which assignment 1 evaluates the spacing: 1.5 × 2^e for even e from -40 to 40.

    >>> len(binades())
    41
    """
    return _ask("binades")


def lengths() -> np.ndarray:
    """Returns the lengths of the inner products of assignment 4.

    >>> lengths()
    array([   64.,   256.,  1024.,  4096., 16384.])
    """
    return _ask("lengths")


def gamma(k: int, u: float) -> float:
    """Returns γ_k = ku/(1-ku), infinity where ku >= 1 (Higham 2002, Lemma 3.1).

    >>> gamma(1, 0.25)
    0.3333333333333333
    """
    return _ask("gamma", k, u)


def gamma_tilde(k: int, u: float, lam: float) -> float:
    """Returns γ̃_k(λ) = exp(λ√k u + ku²/(1-u)) - 1 (Higham & Mary 2019, Theorem 2.4).

    >>> f"{gamma_tilde(4, 2.0**-11, 1.0):.4g}"
    '0.000978'
    """
    return _ask("gamma_tilde", k, u, lam)


def higham_mary_lambda(confidence: float, u: float, events: float) -> float:
    """Returns the λ at which so many products keep their bounds γ̃ together with the confidence (Higham & Mary 2019).

    >>> f"{higham_mary_lambda(0.99, 2.0**-11, 1):.4g}"
    '3.257'
    """
    return _ask("higham_mary_lambda", confidence, u, events)


def fma_bound(u: float) -> MACBound:
    """Returns the bound on the backward error of an FMA with unit roundoff u.

    >>> fma_bound(2.0**-11)
    MACBound(product=0.00048828125, addend=0.00048828125, failure=-inf)
    """
    return _ask("fma_bound", u)


def mpfma_bound() -> MACBound:
    """Returns the bound on an FMA of a tensor core, from binary16 to binary32, whose factors are converted first.

    >>> f"{mpfma_bound().product:.4g}"
    '0.0009776'
    """
    return _ask("mpfma_bound")


def backward_dot(d: float, x: Any, y: Any) -> float:
    """Returns |d - Σxy|/Σ|xy| for a computed inner product d, with exact sums.

    >>> backward_dot(11.0, [1.0, 2.0], [4.0, 3.0])
    0.1
    """
    return _ask("backward_dot", d, x, y)


def distribution(samples: Any) -> Tuple[np.ndarray, np.ndarray]:
    """Returns the distinct positive samples in ascending order, and for each the share of samples that do not exceed it.

    >>> distribution([2.0, 0.0, 1.0, 2.0])
    (array([1., 2.]), array([0.5, 1. ]))
    """
    return _ask("distribution", samples)
