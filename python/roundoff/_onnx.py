"""Products of onnx.reference on an emulated device: within a block, the operators MatMul, Gemm and Conv run as here."""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import inspect
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from ._emulation import FINE, REAL, Machine, Shared
from ._patches import filters, patches, places
from ._report import Run

_active: contextvars.ContextVar[Optional[Tuple[Machine, Run]]] = contextvars.ContextVar("roundoff_onnx", default=None)

@contextlib.contextmanager
def emulated(machine: Machine, run: Run) -> Iterator[None]:
    """Has evaluators of this thread compute products on the machine. The operators are those of onnx.reference again when
    the last block of all threads ends; in other threads they compute what they always do."""
    with _operators:
        token = _active.set((machine, run))
        try:
            yield
        finally:
            _active.reset(token)


@contextlib.contextmanager
def _switch() -> Iterator[None]:
    originals: List[Tuple[Any, Callable]] = []
    try:
        for name, instead in _OPERATORS.items():
            try:
                module = importlib.import_module(f"onnx.reference.ops.op_{name}")
            except ImportError:  # of another version of onnx
                continue
            operators: List[Any] = [x for x in vars(module).values() if inspect.isclass(x)]
            for operator in operators:
                if operator.__module__ == module.__name__ and "_run" in vars(operator):
                    originals.append((operator, operator._run))
                    operator._run = _switched(operator._run, instead)
        yield
    finally:
        for operator, original in originals:
            operator._run = original


_operators = Shared(_switch)


def _switched(original: Callable, instead: Optional[Callable]) -> Callable:
    """Returns an operator that is instead within a block of its thread, and original elsewhere."""

    def _run(self: Any, *inputs: Any, **attributes: Any) -> Any:
        here = _active.get()
        if here is None:
            return original(self, *inputs, **attributes)
        (machine, run), name = here, self.op_type
        kinds = {x.dtype.name for x in inputs if isinstance(x, np.ndarray) and x.dtype.kind != "b"}
        if instead is None or not kinds <= REAL:
            run.leave("onnx", name if instead is None else f"{name} of {', '.join(sorted(kinds))}")
            return original(self, *inputs, **attributes)
        if "float64" in kinds:
            run.note(FINE)

        def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            run.add("onnx", name, a.shape, b.shape, (a.dtype.name, b.dtype.name))
            return machine.product(a, b).astype(inputs[0].dtype)

        return (instead(product, *inputs, **attributes),)

    return _run


Multiply = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _matmul(product: Multiply, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """MatMul: matrices of the last two axes. All rows of a are multiplied at once by a b that is one matrix."""
    row, column = a.ndim == 1, b.ndim == 1
    x, y = a[None, :] if row else a, b[:, None] if column else b
    if x.shape[-1] != y.shape[-2]:
        raise ValueError(f"Unable to multiply shapes {a.shape!r}, {b.shape!r}.")
    m, k, n = x.shape[-2], x.shape[-1], y.shape[-1]
    if y.ndim == 2:
        batch = x.shape[:-2]
        d = product(x.reshape(1, int(np.prod(x.shape[:-1])), k), y[None])
    else:
        batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        count = int(np.prod(batch))
        d = product(np.broadcast_to(x, (*batch, m, k)).reshape(count, m, k), np.broadcast_to(y, (*batch, k, n)).reshape(count, k, n))
    d = d.reshape(*batch, m, n)
    d = d[..., 0] if column else d
    return (d[..., 0] if column else d[..., 0, :]) if row else d


def _gemm(product: Multiply, a: np.ndarray, b: np.ndarray, c: Any = None, alpha: Any = None, beta: Any = None, transA: Any = None, transB: Any = None, **_: Any) -> np.ndarray:
    """Gemm: alpha A B, and beta C added to it."""
    d = product((a.T if transA else a)[None], (b.T if transB else b)[None])[0]
    d = d * (1.0 if alpha is None else alpha)
    if c is not None and beta != 0:
        d = d + c * (1.0 if beta is None else beta)
    return d.astype(a.dtype)


def _conv(
    product: Multiply, x: np.ndarray, w: np.ndarray, bias: Any = None, auto_pad: Any = None, dilations: Any = None, group: Any = None,
    kernel_shape: Any = None, pads: Any = None, strides: Any = None,
) -> np.ndarray:  # fmt: skip
    """Conv: patches of x by the filters w, a product for each group."""
    rank, groups = x.ndim - 2, int(group or 1)
    if rank < 1 or w.ndim != x.ndim or x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ValueError(f"activations of the shape {x.shape} and filters of {w.shape} in {groups} groups do not fit")
    dilations, strides = list(dilations or [1] * rank), list(strides or [1] * rank)
    pads = _pads(auto_pad, pads, x.shape[2:], [(n - 1) * d + 1 for n, d in zip(w.shape[2:], dilations)], strides)
    how = (w.shape[2:], pads, strides, dilations)
    d = places(product(patches(x, *how, groups), filters(w, groups)), x.shape, *how)
    return d if bias is None else d + bias.reshape(-1, *[1] * rank)


def _pads(auto: Any, pads: Any, sizes: Any, kernel: List[int], strides: List[int]) -> List[int]:
    """Returns how many zeros stand before and after each axis, those before first."""
    rank = len(kernel)
    if auto in (None, "", "NOTSET"):
        return list(pads or [0] * 2 * rank)
    if auto == "VALID":
        return [0] * 2 * rank
    both = [max(0, (-(-size // s) - 1) * s + n - size) for size, n, s in zip(sizes, kernel, strides)]
    less, more = [z // 2 for z in both], [-(-z // 2) for z in both]
    return less + more if auto == "SAME_UPPER" else more + less


# Modules of operators, and what their operators are within a block; those without it multiply, and are left as they are.
_OPERATORS: Dict[str, Optional[Callable]] = {
    "matmul": _matmul, "gemm": _gemm, "conv": _conv,
    **dict.fromkeys(
        ("attention", "causal_conv_with_state", "conv_integer", "conv_transpose", "deform_conv", "einsum", "gru", "linear_attention",
         "lstm", "matmul_integer", "qlinear_conv", "qlinear_matmul", "rnn")
    ),
}  # fmt: skip
