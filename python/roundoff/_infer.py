"""How a function of Python adds, found by asking it."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from . import _arrays as arrays
from . import _catalogue, _library
from ._products import Words
from ._records import Asked, Inferred


def infer(
    f: Callable[..., Any],
    in_: Words = "binary16",
    out_format: str = "binary32",
    k: int = 16,
    *,
    order: bool = False,
    seed: int = 1,
    scale: Optional[str] = None,
    scale_block: int = 0,
    batch: bool = True,
    codes: bool = False,
) -> Inferred:
    """Returns how a black box adds, found by asking it some ten thousand dot products: what `roundoff infer` says of it. With
    order, only in which order it adds, of sums of up to 65536 products; records are found of sums of up to 256.

    f(x, y, c) returns c + the sum of x[i, j] y[i, j] over j for each of n questions i. x and y have the shape (n, k) and are
    of the format in_, or two, A's and B's; c and the result have the shape (n,) and are of out_format. n is up to 100,000 and
    differs from call to call. Arrays have the dtypes of NumPy, those of ml_dtypes for formats that are its own, float32 for
    tf32, and uint8 for ue4m3; with codes they have unsigned integers, the codes of the formats. With scale and scale_block,
    scales of that format each cover so many factors, and f(x, y, c, scale_x, scale_y) also gets these, of the shape
    (n, k / scale_block). Without batch, f gets the operands of one question, x and y of the shape (k,), and returns a number.

    f runs in the thread that calls infer, and what it raises is raised there. Questions have infinities and NaN; what NumPy
    would warn of within f, it does not. The same seed draws the same questions.

    Raises TypeError or ValueError if an argument, or the dtype or shape of what f returns, is not as it has to be, and Error
    if f answers the same question in two ways, or with order as no order of additions does. That no record explains f is no
    error: the result says so.

    >>> import numpy as np, roundoff
    >>> found = infer(lambda x, y, c: roundoff.dot(x, y, "volta", c=c), "binary16", k=8)
    >>> found.explained, found.devices
    (True, ['volta-mma-binary16-binary32'])
    >>> print(found.tree)
    d1 = [c + p0 + p1 + p2 + p3]
    d2 = [d1 + p4 + p5 + p6 + p7]
    <BLANKLINE>
    >>> infer(lambda x, y, c: np.cumsum(x * y, axis=1)[:, -1], "binary32", k=4, order=True).order
    [[[0, 1], 2], 3]

    Source: elimination among the records of package tcore, as package infer does it; for the order Xie, Gao, Wang & Xue 2025.
    """
    if not callable(f):
        raise TypeError(f"f is {f!r:.60}, want a function")
    factors = arrays.words("in_", in_)
    first, _, second = factors.partition(",")
    question = {
        "in": factors,
        "out": arrays.word("out_format", out_format),
        "k": arrays.integer("k", k, 1, 1 << 16),
        "scale": None if scale is None else arrays.word("scale", scale),
        "scale_block": arrays.integer("scale_block", scale_block),
        "order": bool(order),
        "seed": arrays.seed("seed", seed),
    }
    scales = None if scale is None else _dtype("scale", scale, codes)
    dtypes = [_dtype("in_", first, codes), _dtype("in_", second or first, codes), scales, scales, _dtype("out_format", out_format, codes)]

    def answer(given: List[Optional[bytes]]) -> bytes:
        x, y, scale_x, scale_y, c = (None if g is None else np.frombuffer(bytearray(g), d) for g, d in zip(given, dtypes))
        n = len(c)  # type: ignore[arg-type]
        operands = [x.reshape(n, -1), y.reshape(n, -1), c]  # type: ignore[union-attr]
        operands += [s.reshape(n, -1) for s in (scale_x, scale_y) if s is not None]
        with np.errstate(all="ignore"):
            got = f(*operands) if batch else np.array([f(*one) for one in zip(*operands)])
        z = arrays.array("what f returned", got)
        if z.shape != (n,):
            raise ValueError(f"f returned the shape {z.shape if batch else z.shape[1:]}, want {(n,) if batch else ()}")
        if z.dtype != dtypes[-1]:
            raise TypeError(f"f returned the dtype {z.dtype}, want {dtypes[-1]}")
        return z.tobytes()

    said = _library.ask("infer", question, box=answer)
    return _inferred(said["text"], k, said["found"])


def _dtype(name: str, format: str, codes: bool) -> np.dtype:
    """Returns the dtype of the elements of a format."""
    found = next((f for f in _catalogue.formats() if f.name == format), None)
    if found is None:
        raise ValueError(f"{name} is {format!r:.60}, want the name of a format, as binary16, bfloat16, tf32, e4m3 or binary32")
    if codes:
        return np.dtype(f"u{found.bytes}")
    known = next((dtype for dtype, f in [*arrays.FORMATS.items(), ("float32", "tf32")] if f == format), None)
    if known is None:
        return np.dtype(f"u{found.bytes}")
    if hasattr(np, known):
        return np.dtype(known)
    try:
        import ml_dtypes
    except ImportError as e:
        raise ImportError(f"{name} is {format!r}, whose dtype {known} ml_dtypes has, which cannot be imported: {e}; codes=True does without") from e
    return np.dtype(getattr(ml_dtypes, known))


def _asked(a: dict) -> Asked:
    return Asked(a["X"], a["Y"], a["ScaleX"] or [], a["ScaleY"] or [], a["C"], a["D"])


def _inferred(text: str, k: int, found: dict) -> Inferred:
    """Returns what was found, from the answer of the library."""
    checked, agreed = found["Checked"], found["Agreed"]
    if "Additions" in found:
        return Inferred(text, k, agreed == checked, found["Questions"], checked, agreed, additions=found["Additions"])
    parameters = found.get("Parameters")
    return Inferred(
        text,
        k,
        found["Explained"],
        found["Asked"],
        checked,
        agreed,
        tried=found["Tried"],
        record=found.get("Record"),
        literal=found.get("Literal"),
        tree=found.get("Tree"),
        parameters=parameters and {p["Name"]: p["Value"] for p in parameters},
        rivals=parameters and {p["Name"]: p["Others"] for p in parameters if p.get("Others")},
        devices=found.get("Catalogue", parameters and []),
        vectors=[_asked(v) for v in found["Vectors"] or []],
        closest=found.get("Closest"),
        counterexample=_asked(found["Against"]) if "Against" in found else None,
    )
