"""Networks of other frameworks on an emulated device: their products of matrices are `gemm`'s, all else is theirs."""

from __future__ import annotations

import contextlib
import sys
import threading
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from . import _arrays as arrays
from ._products import Words, _accumulates, gemm
from ._report import Run

# What of dtypes goes to a device: all else is left exact.
REAL = frozenset(
    ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn")
)

FINE = "factors of float64 are rounded once to the formats of the device, and results have no more digits than binary32"


@dataclass(frozen=True)
class Machine:
    """On what products run: the arguments of `gemm` that say so."""

    device: str
    in_: Optional[Words]
    out_format: Optional[str]
    split_k: int = 1
    promote: int = 0
    plan: Optional[str] = None
    recipe: Optional[Words] = None
    kernel: Optional[str] = None

    def __str__(self) -> str:
        said = [] if self.plan is not None else [self.device]
        if self.in_ is not None:
            said.append(f"in_={self.words}")
        said += [f"{name}={value}" for name, value in (("out_format", self.out_format), ("plan", self.plan), ("recipe", self.recipes or None), ("kernel", self.kernel)) if value is not None]
        said += [f"{name}={value}" for name, value, usual in (("split_k", self.split_k, 1), ("promote", self.promote, 0)) if value != usual]
        return ", ".join(said)

    def product(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Returns the products of matrices a of the shape (batch, m, k) and b of (batch, k, n), of float32. Of no products
        the sum is 0."""
        shape = (len(a), a.shape[1], b.shape[2])
        if 0 in a.shape or 0 in b.shape:
            return np.zeros(shape, np.float32)
        d = np.empty(shape, np.float32)
        for x, y, z in zip(a, b, d):
            self.gemm(x, y, out=z)
        return d

    @property
    def words(self) -> str:
        """The formats as one text, empty for those of the device."""
        return "" if self.in_ is None else arrays.words("in_", self.in_)

    @property
    def recipes(self) -> str:
        """The recipes as one text, empty if there are none."""
        return "" if self.recipe is None else arrays.words("recipe", self.recipe)

    def gemm(self, x: np.ndarray, y: np.ndarray, **more: Any) -> np.ndarray:
        return gemm(x, y, self.device, **{name: value for name, value in vars(self).items() if name != "device"}, **more)


class Shared:
    """A context that threads enter together: it opens when the first one enters, and closes when the last one leaves."""

    def __init__(self, opened: Callable[[], Any]) -> None:
        self._opened, self._within, self._lock = opened, 0, threading.Lock()
        self._open: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._within == 0:
                self._open = self._opened()
                self._open.__enter__()
            self._within += 1

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._within -= 1
            if self._within == 0:
                self._open.__exit__(None, None, None)


class Emulation:
    """An emulated device for the products of frameworks, which `emulate` returns: a context for PyTorch and ONNX, and a
    transformation of functions of JAX. It can be entered more than once, also by several threads."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._entered = threading.local()  # what to leave: a thread leaves what it has entered

    def __enter__(self) -> Run:
        found: List[str] = [name for name in ("torch", "onnx.reference") if name in sys.modules]
        if not found:
            raise RuntimeError(
                "neither torch nor onnx.reference is imported, so that there is nothing to emulate here; "
                "a function of JAX is transformed: roundoff.emulate(...)(f)"
            )
        run = Run(str(self.machine))
        with contextlib.ExitStack() as stack:
            if "torch" in found:
                from . import _torch

                stack.enter_context(_torch.emulated(self.machine, run))
            if "onnx.reference" in found:
                from . import _onnx

                stack.enter_context(_onnx.emulated(self.machine, run))
            self._stack().append((run, found, stack.pop_all()))
        return run

    def __exit__(self, *error: Any) -> None:
        run, found, stack = self._stack().pop()
        for name in ("torch", "onnx.reference"):
            if name in sys.modules and name not in found:
                run.note(f"{name} was imported within the block: it has to be imported before, and its products were left exact")
        stack.__exit__(*error)

    def _stack(self) -> List[Tuple[Run, List[str], contextlib.ExitStack]]:
        if not hasattr(self._entered, "stack"):
            self._entered.stack = []
        return self._entered.stack

    def __call__(self, function: Callable) -> Callable:
        """Returns the function of JAX with its products on the device. Its attribute run tells which ran."""
        torch = sys.modules.get("torch")
        if not callable(function) or torch is not None and isinstance(function, torch.nn.Module):
            raise TypeError(f"function is {function!r:.60}, want a function of JAX; PyTorch and ONNX run within a block, with roundoff.emulate(...)")
        from . import _jax

        return _jax.transformed(function, self.machine)

    def __repr__(self) -> str:
        return f"<emulation of {self.machine}>"


def emulate(
    device: str = "hopper",
    *,
    in_: Optional[Words] = None,
    out_format: Optional[str] = None,
    split_k: int = 1,
    promote: int = 0,
    plan: Optional[str] = None,
    recipe: Optional[Words] = None,
    kernel: Optional[str] = None,
) -> Emulation:
    """Returns an emulated device for networks of PyTorch, ONNX and JAX: their products of matrices become those of `gemm`
    with these arguments, bit for bit, and all else stays what the framework computes.

    Within `with emulate(...) as run:`, products of PyTorch (mm, bmm, addmm, baddbmm and what becomes one of them, such as
    linear, matmul and einsum, also in the backward pass) and of onnx.reference (MatMul, Gemm, Conv) run on the device, in
    the thread that entered the block. `emulate(...)(f)` is the function f of JAX with every dot_general and convolution on
    the device, also in loops, branches and rules of derivatives; it can be passed to jit, vmap, grad and jvp, whose products
    run there too. A rounding has the derivative 1.

    Factors of any floating-point dtype are rounded once to in_, or quantised by recipe: of two, the first is that of the
    left factor, the activations of a linear layer, and the second that of the right one. With plan the sums are those of a
    library. Results are of binary32, and converted by the framework to
    the dtype that it wants; a bias is added after that, by the framework. run, or the
    attribute run of the transformed function, tells which products ran and what was left exact: integers, complex numbers
    and products within other operations. Convolutions are products of patches, channel by channel.

    >>> emulate("hopper", in_="e4m3", promote=128)
    <emulation of hopper, in_=e4m3, promote=128>
    >>> emulate(recipe=("deepgemm-1x128", "deepgemm-128x128"))
    <emulation of hopper, recipe=deepgemm-1x128,deepgemm-128x128>
    """
    formats, recipes = ((v if v is None or isinstance(v, str) else arrays.words(name, v)) for name, v in (("in_", in_), ("recipe", recipe)))
    machine = Machine(arrays.word("device", device), formats, out_format, split_k, promote, plan, recipes, kernel)
    one = np.ones((1, 1), np.float32)
    machine.gemm(one, one)  # what gemm refuses is refused here, before anything is changed
    sums = _accumulates(device, out_format)
    if sums in ("int32", "binary64"):
        raise ValueError(f"device is {device!r} and out_format {out_format!r}, with sums of {sums}; want a unit that adds in binary32 or less")
    return Emulation(machine)
