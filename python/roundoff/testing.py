"""Tests of kernels against tolerances that are theorems, not numbers that somebody chose.

>>> import numpy as np, roundoff
>>> rng = np.random.default_rng(1)
>>> a, b = rng.standard_normal((64, 1000)).astype(np.float16), rng.standard_normal((1000, 64)).astype(np.float16)
>>> got = roundoff.gemm(a, b, "hopper", split_k=4)              # as your kernel would compute it
>>> assert_close(got, a, b, device="hopper")                    # into how many parts K is split it need not know
>>> assert_close(got[[1, 0, *range(2, 64)]], a, b, device="hopper")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
AssertionError: got is beyond its tolerance
...
what would explain it:
  rows 0 and 1 are swapped

With pytest installed, the fixture `roundoff_close` is `assert_close` for the device and confidence of the options
--roundoff-device and --roundoff-confidence. Neither it nor pytest is needed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _arrays as arrays
from . import _library
from ._products import Words
from ._records import record

__all__ = ["Cause", "Compared", "Output", "Tolerance", "assert_close", "compare", "tolerance"]

CONFIDENCE = "1-1e-6"


@dataclass(frozen=True, eq=False)
class Tolerance:
    """How far outputs may be from the exact ones, each by itself: limits, an array of the shape (M, N), absolute, and the
    bound that gives them at the median, on the device, with what is known of the order of additions; why it holds, and the confidence for
    all outputs together, 1 for always. median is that of limits, relative is over the median of |A||B|."""

    device: str
    bound: str
    source: str
    why: str
    confidence: Union[float, str]
    orders: str
    parts: int
    median: float
    relative: float
    text: str
    limits: np.ndarray

    def __str__(self) -> str:
        return self.text.rstrip("\n")


@dataclass(frozen=True)
class Output:
    """An output beyond its tolerance: error is |got - want|, limit the tolerance, excess their ratio. want is the exact
    output, or the middle of what is allowed where truncation has a drift. What is not finite is None."""

    row: int
    column: int
    got: Optional[float]
    want: Optional[float]
    error: Optional[float]
    limit: Optional[float]
    excess: Optional[float]


@dataclass(frozen=True)
class Cause:
    """What would explain outputs beyond their tolerance, in words, and the share of them that it explains."""

    cause: str
    words: str
    explains: float


@dataclass(frozen=True, repr=False)
class Compared:
    """What a comparison found: how many outputs are beyond their tolerance, the worst of them, and what would explain it.
    It is true if none are, so that `assert compare(got, a, b)` tells why not. emulated is the number of parts of K whose
    emulation fits best, 0 without emulate."""

    outputs: int
    beyond: int
    largest: Optional[float]
    worst: List[Output]
    causes: List[Cause]
    emulated: int
    text: str

    def __bool__(self) -> bool:
        return self.beyond == 0

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def tolerance(
    a: Any,
    b: Any,
    device: str = "hopper",
    *,
    in_: Optional[Words] = None,
    acc: Optional[str] = None,
    out_format: Optional[str] = None,
    split_k: Optional[int] = None,
    promote: int = 0,
    parts: Optional[int] = None,
    orders: Optional[str] = None,
    plan: Optional[str] = None,
    confidence: Union[float, str] = CONFIDENCE,
    scale_a: Any = None,
    scale_b: Any = None,
) -> Tolerance:
    """Returns by how much each output of A B may differ from the exact one: what `roundoff tolerance` prints.

    a has the shape (M, K) and b (K, N), or one of them is a vector, a row a or a column b; they are rounded to the formats
    in_ of the device first, as `gemm` does, by default those of their own dtypes if these are of 16 bits or less. The
    device adds in acc, binary32 or that of a device named in full, and D is stored in out_format, by default acc. With
    split_k None it is not known into how many parts K is cut, of equal length and at most parts, 32 by default. promote
    cuts K every so many products. plan is that of a library, as in `bounds`. orders is "mixed" if the number of parts may
    differ from output to output, and "any" for every order of additions on the device. confidence is a probability for all outputs together, as in 0.99 or "1-1e-6",
    or "always", for bounds that assume nothing of the data. On a block-scaled unit a and b are products of elements and
    scales, or elements where scale_a, of the shape (M, blocks), and scale_b, (blocks, N), are given, which makes limits
    tighter: of ml_dtypes, or uint8 for codes, or float32. Source: the catalogue of `bounds`.

    >>> t = tolerance(np.full((4, 64), 0.1), np.full((64, 2), 0.1), "hopper", confidence="always")
    >>> t.limits.shape, t.bound
    ((4, 2), 'truncation')
    """
    x, y = _factors(a, b)
    limits = np.empty((x.shape[0], y.shape[1]))
    question = _maker(x, y, device, in_, acc, out_format, split_k, promote, parts, orders, plan)
    question["confidence"] = _confidence(confidence)
    scales = _scales(device, scale_a, scale_b)
    matrices = [arrays.matrix("a", x), arrays.matrix("b", y), *(m for m, _ in scales), None, None, arrays.matrix("limits", limits)]
    answer = _library.ask("tolerance", question, matrices, _library.LONG, (x, y, scales, limits))
    return record(Tolerance, {**answer, "limits": limits})


def compare(
    got: Any,
    a: Any,
    b: Any,
    device: str = "hopper",
    *,
    in_: Optional[Words] = None,
    acc: Optional[str] = None,
    out_format: Optional[str] = None,
    split_k: Optional[int] = None,
    promote: int = 0,
    parts: Optional[int] = None,
    orders: Optional[str] = None,
    plan: Optional[str] = None,
    confidence: Union[float, str] = CONFIDENCE,
    scale_a: Any = None,
    scale_b: Any = None,
    emulate: Optional[str] = None,
    want: Any = None,
    want_device: Optional[str] = None,
    want_in: Optional[Words] = None,
    want_acc: Optional[str] = None,
    want_out_format: Optional[str] = None,
    want_orders: Optional[str] = None,
    want_plan: Optional[str] = None,
) -> Compared:
    """Returns which of the outputs got, of the shape (M, N), are further from the exact A B than `tolerance` allows, and
    which causes would explain it. With split_k None the same number of parts of K has to fit all outputs, which is more
    than that each is within its own limit; and where all outputs but a few have the bits that the device computes, these
    few are refused. orders="mixed" asks for the limits alone. The other arguments are as there; out_format is by default
    the format of got's dtype, if that is of 16 bits.

    With want, the outputs of another implementation, both are compared with each other, and may differ by both tolerances
    together. want_device and the like tell that implementation, by default the same device and formats, with an unknown
    split of K.

    With emulate, got has to be what the device computes for some number of parts of K, the same for all outputs: with
    "sums" but for the order in which the sums of parts are added, with "bits" bit by bit, as where they are added from the
    first to the last, so that a flipped bit shows in every place. A sound kernel that cuts K into other parts fails.

    >>> bool(compare([[2.0]], [[1.0, 1.0]], [[1.0], [1.0]])), bool(compare([[3.0]], [[1.0, 1.0]], [[1.0], [1.0]]))
    (True, False)
    """
    x, y = _factors(a, b)
    question = _maker(x, y, device, in_, acc, _stored(out_format, got), split_k, promote, parts, orders, plan)
    question.update(confidence=_confidence(confidence), emulate=None if emulate is None else arrays.word("emulate", emulate))
    shape = (x.shape[0], y.shape[1])
    d = _outputs("got", got, shape, _shape(a, b))
    w: Optional[np.ndarray] = None
    others = {"want_device": want_device, "want_in": want_in, "want_acc": want_acc, "want_out_format": want_out_format, "want_orders": want_orders, "want_plan": want_plan}
    if want is not None:
        w = _outputs("want", want, shape, _shape(a, b))
        question["want"] = {
            key: arrays.words(name, value)
            for key, (name, value) in {
                "device": ("want_device", want_device),
                "in": ("want_in", want_in),
                "acc": ("want_acc", want_acc),
                "out": ("want_out_format", _stored(want_out_format, want)),
                "orders": ("want_orders", want_orders),
                "plan": ("want_plan", want_plan),
            }.items()
            if value is not None
        }
    else:
        for name, value in others.items():
            if value is not None:
                raise ValueError(f"{name} is {value!r:.60}, and want is None: it tells how want is computed")
    scales = _scales(device, scale_a, scale_b)
    matrices = [arrays.matrix("a", x), arrays.matrix("b", y), *(m for m, _ in scales), arrays.matrix("got", d), arrays.matrix("want", w), None]
    answer = _library.ask("tolerance", question, matrices, _library.LONG, (x, y, scales, d, w))
    return record(
        Compared,
        {**answer, "worst": [record(Output, e) for e in answer["worst"]], "causes": [record(Cause, c) for c in answer["causes"]]},
    )


def assert_close(got: Any, a: Any, b: Any, device: str = "hopper", **options: Any) -> None:
    """Raises AssertionError if an output is beyond its tolerance: which ones, by how much, and what would explain it. The
    arguments are those of `compare`. Arguments that cannot be meant raise TypeError or ValueError, as everywhere.

    >>> assert_close([[2.0]], [[1.0, 1.0]], [[1.0], [1.0]], device="ampere")
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    found = compare(got, a, b, device, **options)
    if not found:
        raise AssertionError(f"got is beyond its tolerance\n{found}")


# The formats that a dtype means: of float32 and float64 many things are stored.
_OWN = {k: v for k, v in arrays.FORMATS.items() if k not in ("float32", "float64", "int8", "uint8", "int32")}


def _factors(a: Any, b: Any) -> Tuple[np.ndarray, np.ndarray]:
    x, y = arrays.array("a", a), arrays.array("b", b)
    x, y = arrays.given("a", x[None, :] if x.ndim == 1 else x), arrays.given("b", y[:, None] if y.ndim == 1 else y)
    if x.shape[1] != y.shape[0]:
        raise ValueError(f"a has the shape {np.shape(a)} and b {np.shape(b)}: they do not fit")
    return x, y


def _shape(a: Any, b: Any) -> tuple:
    """Returns the shape of the product of a and b as they were given."""
    x, y = arrays.array("a", a), arrays.array("b", b)
    return (*x.shape[:-1], *y.shape[1:])


def _outputs(name: str, d: Any, shape: tuple, given: tuple) -> np.ndarray:
    z = arrays.array(name, d)
    if z.shape not in (shape, given):
        raise ValueError(f"{name} has the shape {z.shape}, want {given}")
    arrays.format_of(name, z)
    return z.reshape(shape)


def _stored(out_format: Optional[str], got: Any) -> Optional[str]:
    """Returns the format of outputs: that which is named, or that of their dtype."""
    return out_format if out_format is not None else _OWN.get(getattr(getattr(got, "dtype", None), "name", ""))


def _scales(device: str, a: Any, b: Any) -> List[Tuple[Optional[_library.Matrix], Optional[np.ndarray]]]:
    """Returns the scales as matrices, with the arrays that own them. Bytes are codes of the unit's scales."""
    from ._catalogue import device as of

    unit = of(device)
    made: List[Tuple[Optional[_library.Matrix], Optional[np.ndarray]]] = []
    for name, s in (("scale_a", a), ("scale_b", b)):
        z = None if s is None else arrays.given(name, s)
        codes = z is not None and z.dtype == np.uint8
        if codes and (unit is None or unit.scale is None):
            raise ValueError(f"{name} is of bytes, and device is {device!r}, want the name of a unit with scales, whose codes they are")
        made.append((arrays.matrix(name, z, unit.scale if codes and unit else None), z))
    return made


def _confidence(confidence: Any) -> str:
    if isinstance(confidence, str):
        return arrays.word("confidence", confidence)
    z = arrays.number("confidence", confidence)
    if not 0 < z < 1:
        raise ValueError(f"confidence is {z}, want a number between 0 and 1, or 'always'")
    return repr(z)


def _maker(x: np.ndarray, y: np.ndarray, device: Any, in_: Any, acc: Any, out: Any, split_k: Any, promote: Any, parts: Any, orders: Any, plan: Any) -> dict:
    """Returns what is known of an implementation, as a question."""
    own = [_OWN.get(v.dtype.name) for v in (x, y)]
    formats = None if in_ is None else arrays.words("in_", in_)
    if in_ is None and None not in own and device not in _named():
        formats = ",".join(dict.fromkeys(f for f in own if f is not None))
    return {
        "device": arrays.word("device", device),
        "in": formats,
        "acc": None if acc is None else arrays.word("acc", acc),
        "out": None if out is None else arrays.word("out_format", out),
        "split_k": 0 if split_k is None else arrays.integer("split_k", split_k, 1),
        "promote": arrays.integer("promote", promote),
        "parts": 0 if parts is None else arrays.integer("parts", parts, 1),
        "orders": None if orders is None else arrays.word("orders", orders),
        "plan": None if plan is None else arrays.word("plan", plan),
    }


def _named() -> set:
    """Returns the names of devices, whose formats need not be told."""
    from ._catalogue import devices

    return {d.name for d in devices()}
