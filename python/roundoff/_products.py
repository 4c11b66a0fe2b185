"""Products, roundings and quantised matrices."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays as arrays
from . import _catalogue, _library
from ._records import Quantised, Trace, record

Words = Union[str, Sequence[str]]


def _machine(device: Any, in_: Any, out_format: Any, split_k: Any, promote: Any) -> dict:
    """Returns the machine of a question."""
    return {
        "device": arrays.word("device", device),
        "in": None if in_ is None else arrays.words("in_", in_),
        "out": None if out_format is None else arrays.word("out_format", out_format),
        "split_k": arrays.integer("split_k", split_k, 1),
        "promote": arrays.integer("promote", promote),
    }


def _accumulates(device: str, out_format: Optional[str]) -> str:
    """Returns the format of results: that which is named, or the one in which a device named in full adds."""
    if out_format is not None:
        return out_format
    unit = _catalogue.device(device)
    return "binary32" if unit is None else unit.c


def _dtypes(format: str) -> tuple:
    """Returns the dtypes that a result of a format can have besides the first."""
    return {"binary16": (np.float64, np.float16), "int32": (), "binary64": (np.float64,)}.get(format, (np.float64,))


def gemm(
    a: Any,
    b: Any,
    device: str = "hopper",
    *,
    in_: Optional[Words] = None,
    out: Optional[np.ndarray] = None,
    out_format: Optional[str] = None,
    c: Any = None,
    alpha: float = 1.0,
    beta: Optional[float] = None,
    split_k: int = 1,
    promote: int = 0,
    plan: Optional[str] = None,
    recipe: Optional[Words] = None,
    kernel: Optional[str] = None,
) -> np.ndarray:
    """Returns alpha A B + beta C as a matrix unit computes it, bit for bit: what `roundoff gemm` writes.

    a has the shape (M, K) and b (K, N), of any float dtype of NumPy or ml_dtypes, int8, uint8 or int32; they are rounded
    once to the formats in_, one or two, A and B; for binary64 they must be numbers of float32. A vector stands for a row a
    or a column b, and the result has no such dimension. device is a name of `devices()` or an architecture with a unit for
    in_; without in_, the unit's own formats, or binary16. The result is rounded to out_format, by default what a device
    named in full adds in, else binary32. Its dtype is float32, or int32 for integers, or that of out, which may also be
    float64. beta is 1 if c is given. K is cut into split_k parts, or sums are promoted to binary32 every so many products.

    With plan, which is as in `bounds`, the sums are those of a library. With recipe, one or two names of `recipes()`, A and B
    are quantised as a library does it, and kernel, of "deepgemm", "deepseek", "epilogue" and "alpha", applies the scales,
    by default that which the recipes ask for; device is then one that takes their codes, and integers need none.

    An array of float32 whose rows or columns lie in one piece is not copied. Source: the models that `roundoff devices`
    lists, and the `tcore` package.

    >>> x, y = [-4096, -0.5, -0.25, -0.125, 4096], [2048, 1, 1, 1, 2048]
    >>> [float(gemm(x, y, device)) for device in ("volta", "hopper", "cdna1")]
    [0.0, -0.75, -1.0]
    >>> a, b = np.full((1, 4096), 0.1, np.float32), np.ones((4096, 1), np.float32)
    >>> float(gemm(a, b, recipe=["deepgemm-1x128", "deepgemm-128x128"])[0, 0])    # as DeepGEMM computes 409.6
    409.5998840332031
    """
    x, y = arrays.array("a", a), arrays.array("b", b)
    drop: Tuple[int, ...] = ()
    if x.ndim == 1:
        x, drop = x[None, :], (0,)
    if y.ndim == 1:
        y, drop = y[:, None], (*drop, 1)
    if drop and out is not None:
        raise ValueError(f"out is given, and a and b have the shapes {np.shape(a)} and {np.shape(b)}: want matrices with out")
    x, y = arrays.given("a", x), arrays.given("b", y)
    if x.shape[1] != y.shape[0]:
        raise ValueError(f"a has the shape {x.shape} and b {y.shape}: they do not fit")
    shape = (x.shape[0], y.shape[1])
    question = _machine(device, in_, out_format, split_k, promote)
    if plan is not None:
        if (device, in_, out_format, split_k, promote) != ("hopper", None, None, 1, 0):
            raise ValueError(f"plan is {plan!r}, and device, in_, out_format, split_k or promote is given: want one of them")
        question = {}
    question.update(
        plan=None if plan is None else arrays.word("plan", plan),
        recipe=None if recipe is None else arrays.words("recipe", recipe),
        kernel=None if kernel is None else arrays.word("kernel", kernel),
    )
    z: Optional[np.ndarray] = None if c is None else arrays.given("c", c)
    if z is not None and z.shape != shape:
        raise ValueError(f"c has the shape {z.shape}, want {shape}")
    question["alpha"] = arrays.number("alpha", alpha)
    question["beta"] = arrays.number("beta", (0 if z is None else 1) if beta is None else beta)
    if z is None and question["beta"] != 0:
        raise ValueError(f"beta is {beta}, and there is no c")
    if question["beta"] == 0:
        z = None
    format = _accumulates(device, out_format)
    d = arrays.result(out, shape, np.int32 if format == "int32" else np.float32, x, y, z, dtypes=_dtypes(format))
    work = x.shape[0] * x.shape[1] * y.shape[1]
    matrices = [arrays.matrix(n, v) for n, v in (("a", x), ("b", y), ("c", z), ("out", d))]
    _library.ask("gemm", question, matrices, work, (x, y, z, d))
    return d.reshape([n for i, n in enumerate(shape) if i not in drop]) if drop else d


def dot(
    x: Any,
    y: Any,
    device: str = "hopper",
    *,
    in_: Optional[Words] = None,
    out_format: Optional[str] = None,
    c: Any = None,
    scale_x: Any = None,
    scale_y: Any = None,
    split_k: int = 1,
    promote: int = 0,
    out: Optional[np.ndarray] = None,
) -> np.ndarray:
    """Returns c + the sum of x[..., i] y[..., i] as a matrix unit adds them, c within the first block.

    x and y have the shape (K,), or (n, K) for n sums; one of them may be a vector beside n others. c has the shape () or
    (n,). Elements that are of the unit's own formats are taken bit by bit, as in ml_dtypes. Scales of a block-scaled unit,
    of ml_dtypes or uint8 for codes, have the shape of x with one element for every block. The dtype of the result is
    float32, int32 for integers, float64 for units that add in binary64, or that of out, of shape (n,). device, in_,
    out_format, split_k and promote are as in `gemm`.

    >>> dot([-4096, -0.5, -0.25, -0.125], [2048, 1, 1, 1], "hopper", c=8388608.0)
    array(-0.75, dtype=float32)
    """
    u, v = arrays.array("x", x), arrays.array("y", y)
    for name, w in (("x", u), ("y", v)):
        if w.ndim not in (1, 2):
            raise ValueError(f"{name} has the shape {w.shape}, want 1 or 2 dimensions")
    scalar = u.ndim == 1 and v.ndim == 1
    u, v = (w if w.ndim == 2 else w[None, :] for w in (u, v))
    n = max(len(u), len(v))
    u, v = arrays.given("x", u), arrays.given("y", v)
    if u.shape[1] != v.shape[1] or len(u) not in (1, n) or len(v) not in (1, n):
        raise ValueError(f"x has the shape {np.shape(x)} and y {np.shape(y)}: they do not fit")
    u, v = np.broadcast_to(u, (n, u.shape[1])), np.broadcast_to(v, (n, v.shape[1]))
    question = _machine(device, in_, out_format, split_k, promote)
    format = _accumulates(device, out_format)
    scales = [_scales("scale_x", scale_x, n), _scales("scale_y", scale_y, n)]
    addend: Optional[np.ndarray] = None
    if c is not None:
        addend = np.asarray(float(c)) if isinstance(c, (int, float)) else arrays.array("c", np.asarray(c) if np.isscalar(c) else c)
        if addend.ndim > 1 or addend.ndim == 1 and len(addend) != n:
            raise ValueError(f"c has the shape {addend.shape}, want () or ({n},)")
        arrays.format_of("c", addend)
        addend = np.broadcast_to(addend, (n,))[:, None]
    first = {"int32": np.int32, "binary64": np.float64}.get(format, np.float32)
    d = arrays.result(out, (n,), first, u, v, addend, *scales, dtypes=_dtypes(format))
    unit = _catalogue.device(device)
    scaled = unit.scale if unit else None
    matrices = [arrays.matrix("x", u), arrays.matrix("y", v)]
    for name, s in zip(("scale_x", "scale_y"), scales):
        bytes_ = s is not None and s.dtype == np.uint8
        if bytes_ and scaled is None:
            raise ValueError(f"{name} is of bytes, and device is {device!r}, want the name of a unit with scales, whose codes they are")
        matrices.append(arrays.matrix(name, s, scaled if bytes_ else None))
    matrices += [arrays.matrix("c", addend), arrays.matrix("out", d[:, None])]
    _library.ask("dot", question, matrices, 16 * u.size, (u, v, addend, scales, d))
    return d.reshape(()) if scalar and out is None else d


def _scales(name: str, s: Any, n: int) -> Optional[np.ndarray]:
    if s is None:
        return None
    z = arrays.array(name, s)
    z = arrays.given(name, z if z.ndim == 2 else z[None, :] if z.ndim == 1 else z)
    if len(z) not in (1, n):
        raise ValueError(f"{name} has the shape {np.shape(s)}, want {n} rows")
    return np.broadcast_to(z, (n, z.shape[1]))


def trace(
    a: Any,
    b: Any,
    device: str = "hopper",
    *,
    row: int = 0,
    column: int = 0,
    in_: Optional[Words] = None,
    out_format: Optional[str] = None,
    split_k: int = 1,
    promote: int = 0,
) -> Trace:
    """Returns how the element (row, column) of A B is summed: what is kept of each product, and what is cut off.

    a has the shape (M, K) and b (K, N); the machine is that of `gemm`.

    >>> print(trace([[4096.0, 0.5]], [[2048.0], [2.0 ** -2]], "volta"))  # doctest: +ELLIPSIS
    volta-mma-binary16-binary32
    term       value    exponent  kept     lost
    x0 y0      8388608  23        8388608  0
    x1 y1      0.125    -3        0        0.125
    ...
    """
    x, y = arrays.given("a", a), arrays.given("b", b)
    question = _machine(device, in_, out_format, split_k, promote)
    question.update(row=arrays.integer("row", row), column=arrays.integer("column", column))
    return record(Trace, _library.ask("trace", question, [arrays.matrix("a", x), arrays.matrix("b", y)], x.shape[1], (x, y)))


def round(
    x: Any,
    format: str,
    *,
    mode: str = "ToNearestEven",
    stochastic: int = 0,
    seed: int = 0,
    out: Optional[np.ndarray] = None,
) -> np.ndarray:
    """Returns x rounded to a format of `formats()`, an array of the shape of x, one or two dimensions, and of the dtype
    float32, or float64 if x or the format needs it.

    mode is ToNearestEven, ToNearestAway, ToZero, ToPositive, ToNegative or ToOdd. With stochastic, 1 to 32 random bits
    from an integer seed decide (Croci et al. 2022); element i of the result, counted row by row, depends on seed and i.

    >>> round([0.1, 440.0, 3.3], "e4m3").tolist()
    [0.1015625, 448.0, 3.25]
    """
    z = arrays.array("x", x)
    if z.ndim not in (1, 2):
        raise ValueError(f"x has the shape {z.shape}, want 1 or 2 dimensions")
    rows = arrays.given("x", z if z.ndim == 2 else z[None, :])
    name = arrays.word("format", format)
    wide = np.float64 if z.dtype in (np.float64, np.int32) or name in ("binary64", "int32") else np.float32
    d = arrays.result(out, z.shape, wide, rows, dtypes=(np.float32, np.float64))
    question = {
        "format": name,
        "mode": arrays.word("mode", mode),
        "stochastic": arrays.integer("stochastic", stochastic, 0, 32),
        "seed": arrays.seed("seed", seed),
    }
    to = d if d.ndim == 2 else d[None, :]
    _library.ask("round", question, [arrays.matrix("x", rows), arrays.matrix("out", to)], rows.size, (rows, d))
    return d


def quantise(x: Any, recipe: str, *, side: str = "a", stochastic: int = 0, seed: int = 1) -> Quantised:
    """Returns x, a matrix rounded to binary32 first, quantised as a library does, bit for bit.

    recipe is a name of `recipes()`. Blocks lie along the rows of side a, the left factor, or the columns of side b.
    Codes are bytes; `.codes.view(ml_dtypes.float8_e4m3fn)` gives them their type. With stochastic, so many random bits
    (8 in hardware) from an integer seed decide. Source: that of the recipe.

    >>> q = quantise([[1.0, 2.0, 3.0, 400.0]], "torchao-e4m3-row")
    >>> q.codes.dtype, q.scales.shape, q.flushed
    (dtype('uint8'), (1, 1), 0)
    """
    z = arrays.given("x", x)
    name = arrays.word("recipe", recipe)
    found = next((r for r in _catalogue.recipes() if r.name == name), None)
    if found is None:
        raise ValueError(f"recipe is {name!r:.60}, want one of recipes()")
    question = {
        "recipe": name,
        "side": arrays.word("side", side),
        "stochastic": arrays.integer("stochastic", stochastic, 0, 32),
        "seed": arrays.seed("seed", seed),
    }
    if side not in ("a", "b"):
        raise ValueError(f"side is {side!r:.60}, want 'a' or 'b'")
    along, across = (z.shape[1], z.shape[0]) if side == "a" else z.shape
    counts = [-(-n // (block or n)) for n, block in ((across, found.across), (along, found.along))]
    codes = np.empty(z.shape, np.int8 if found.element.startswith("int8") else np.uint8)
    scales = np.empty(counts if side == "a" else counts[::-1], np.float32)
    values = np.empty(z.shape, np.float32)
    matrices = [arrays.matrix("x", z), arrays.matrix("codes", codes), arrays.matrix("scales", scales), arrays.matrix("values", values)]
    answer = _library.ask("quantise", question, matrices, z.size, (z, codes, scales, values))
    return record(Quantised, {**answer, "codes": codes, "scales": scales, "values": values})


def exact(a: Any, b: Any, *, out: Optional[np.ndarray] = None, abs: bool = False) -> Any:
    """Returns A B computed without any rounding, then rounded once to float64; with abs the pair of A B and |A||B|.

    a has the shape (M, K) and b (K, N), finite numbers of binary32. Errors of other products are measured against this.

    >>> exact([[2.0**60, 1, -(2.0**60)]], [[1.0], [1.0], [1.0]])
    array([[1.]])
    """
    x, y = arrays.given("a", a), arrays.given("b", b)
    if x.shape[1] != y.shape[0]:
        raise ValueError(f"a has the shape {x.shape} and b {y.shape}: they do not fit")
    shape = (x.shape[0], y.shape[1])
    d = arrays.result(out, shape, np.float64, x, y)
    sizes = np.empty(shape) if abs else None
    matrices = [arrays.matrix(n, v) for n, v in (("a", x), ("b", y), ("out", d), ("abs", sizes))]
    _library.ask("exact", {}, matrices, x.shape[0] * x.shape[1] * y.shape[1], (x, y, d, sizes))
    return (d, sizes) if abs else d
