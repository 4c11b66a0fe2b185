"""Bounds, advice, predictions and audits."""

from __future__ import annotations

import os
from typing import Any, List, Optional, Sequence, Union

import numpy as np

from . import _arrays as arrays
from . import _library
from ._products import Words
from ._records import Advice, Audit, Audited, Bound, Prediction, Rows, record


def _asked(name: str, question: dict, a: Any, b: Any) -> Any:
    if (a is None) != (b is None):
        raise ValueError(f"{'b' if b is None else 'a'} is None and the other matrix is given: want both or neither")
    x, y = (None if v is None else arrays.given(n, v) for n, v in (("a", a), ("b", b)))
    return _library.ask(name, question, [arrays.matrix("a", x), arrays.matrix("b", y)], keep=(x, y))


def _sizes(**sizes: Any) -> dict:
    return {name: None if n is None else arrays.integer(name, n, 0) for name, n in sizes.items()}


def _words(**values: Any) -> dict:
    return {name.rstrip("_"): None if v is None else arrays.words(name, v) for name, v in values.items()}


def bounds(
    a: Any = None,
    b: Any = None,
    device: str = "hopper",
    *,
    m: Optional[int] = None,
    n: Optional[int] = None,
    k: Optional[int] = None,
    in_: Optional[Words] = None,
    acc: Optional[str] = None,
    out_format: Optional[str] = None,
    kernel: Optional[str] = None,
    block: int = 0,
    split_k: int = 1,
    promote: int = 0,
    order: Optional[str] = None,
    stochastic: bool = False,
    represented: bool = False,
    recipe: Optional[Words] = None,
    confidence: Union[float, str] = "0.99",
    dist: Optional[str] = None,
    run: bool = False,
    seed: int = 241118747,
    permute: Optional[int] = None,
    plan: Optional[str] = None,
) -> Rows[Bound]:
    """Returns every bound on the error of a product, those that hold first, the tightest first: `roundoff bound -json`.

    The product is A B of two matrices, of which sizes and moments are taken, or one of m × k and k × n numbers, 1 × 1024
    and 1024 × 1 by default, from the distribution dist, U(lo,hi) or N(mean,deviation). Each row says which paper the bound
    is from, whether it holds on the device, and why.

    With plan, D is what a library computes, in place of device, split_k, promote and out_format: a name or a text of
    `roundoff plan list`, or "cublaslt-13.1 h100 66,0,4,2,0,0,35". Then there are also bounds for every order of additions.

    >>> tightest = bounds(m=1024, n=8, k=32768, device="hopper")[0]
    >>> tightest.holds, tightest.bound
    (True, 'truncation')
    """
    if a is not None and (m, n, k) != (None, None, None):
        raise ValueError(f"m, n and k are {m}, {n} and {k}, and a and b are given: want one of them")
    question = {
        **_sizes(m=m, n=n, k=k, block=block, split_k=split_k, promote=promote),
        **_words(device=device, in_=in_, acc=acc, kernel=kernel, order=order, recipe=recipe, dist=dist, plan=plan),
        **_words(out=out_format, confidence=str(confidence)),
        "stochastic": bool(stochastic),
        "represented": bool(represented),
        "run": bool(run),
        "seed": arrays.seed("seed", seed),
        "permute": None if permute is None else arrays.seed("permute", permute),
    }
    return Rows(record(Bound, {**r, "lambda_": r["lambda"]}) for r in _asked("bound", question, a, b))


def advise(
    tolerance: float,
    a: Any = None,
    b: Any = None,
    *,
    m: Optional[int] = None,
    n: Optional[int] = None,
    k: Optional[int] = None,
    device: Optional[Words] = None,
    in_: Optional[Words] = None,
    out_format: Optional[str] = None,
    split_k: int = 1,
    promote: int = 0,
    represented: bool = True,
    recipe: Optional[Words] = None,
    confidence: Union[float, str] = "0.99",
    dist: Optional[str] = None,
    permute: Optional[int] = None,
) -> Rows[Advice]:
    """Returns which devices and formats are guaranteed to err by at most tolerance |A||B|, by which bound, for which K,
    and what they cost: `roundoff advise -json`. The product is described as in `bounds`.

    >>> any(r.meets for r in advise(1e-3, m=16, n=16, k=512, dist="U(-1,1)", device="hopper"))
    True
    """
    if a is not None and (m, n, k) != (None, None, None):
        raise ValueError(f"m, n and k are {m}, {n} and {k}, and a and b are given: want one of them")
    question = {
        "tolerance": arrays.number("tolerance", tolerance),
        **_sizes(m=m, n=n, k=k, split_k=split_k, promote=promote),
        **_words(device=device, in_=in_, out=out_format, recipe=recipe, dist=dist, confidence=str(confidence)),
        "represented": bool(represented),
        "permute": None if permute is None else arrays.seed("permute", permute),
    }
    return Rows(record(Advice, r) for r in _asked("advise", question, a, b))


def predict(
    k: Union[int, Sequence[int]] = (256, 4096, 32768),
    device: str = "hopper",
    *,
    a: Any = None,
    b: Any = None,
    in_: Optional[Words] = None,
    acc: Optional[str] = None,
    out_format: Optional[str] = None,
    dist: Optional[str] = None,
    recipe: Optional[Words] = None,
    m: Optional[int] = None,
    n: Optional[int] = None,
    split_k: int = 1,
    promote: int = 0,
    plan: Optional[str] = None,
) -> Rows[Prediction]:
    """Returns the error to be expected of sums of k products of random numbers, U(0,1) unless dist says otherwise: what
    `roundoff predict` prints. It is a prediction, no bound. With recipe, that of quantised factors, or of a and b.
    With plan, which is as in `bounds`, the sums are those of a library.

    >>> [row.k for row in predict([256, 4096], in_="e4m3", promote=128)]
    [256, 4096]
    """
    lengths: List[int] = [arrays.integer("k", v) for v in (k if isinstance(k, (list, tuple, range, np.ndarray)) else (k,))]
    question = {
        "k": lengths,
        **_sizes(m=m, n=n, split_k=split_k, promote=promote),
        **_words(device=device, in_=in_, acc=acc, out=out_format, dist=dist, recipe=recipe, plan=plan),
    }
    return Rows(record(Prediction, r) for r in _asked("predict", question, a, b)["rows"])


def audit(
    a: Any = None,
    b: Any = None,
    *,
    model: Union[str, "os.PathLike[str]", None] = None,
    recipe: Optional[Words] = None,
    device: Optional[Words] = None,
    promote: int = 128,
    seed: int = 1,
) -> Audit:
    """Returns what quantisation does to the product of activations a (rows, K) and weights b (K, N), or to each product of
    the network in a file, .onnx or .safetensors, whose activations are independent N(0,1) from the seed.

    Each row is a recipe, A:B for one of activations and one of weights, and a device that takes what it makes; .report
    has what `roundoff audit -json` writes. Errors are over rms(D).

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> rows = audit(rng.standard_normal((8, 64)), rng.standard_normal((64, 8)), recipe="int8-row")
    >>> [row.measured < row.bound for row in rows]
    [True]
    """
    path = None
    if model is not None:
        path = os.fspath(model)
        arrays.word("model", path)
        os.stat(path)  # raises what Python raises of a file that is not there
    if (a is not None or b is not None) == (path is not None):
        raise ValueError(f"model is {path!r}, want a file, or else a and b")
    question = {
        "model": path,
        **_words(recipe=recipe, device=device),
        "promote": arrays.integer("promote", promote),
        "seed": arrays.seed("seed", seed),
    }
    report = _asked("audit", question, a, b)
    rows = Audit()
    rows.report = report
    for p in report["products"]:
        for e in p["errors"]:
            for d in e["devices"] or [{}]:
                known = {**e, "product": p["name"], "why": e.get("why", "")}
                for name in ("device", "promote", "accumulation", "accumulation_bound", "total", "total_bound", "overflow"):
                    known[name] = d.get(name)
                rows.append(record(Audited, known))
    return rows
