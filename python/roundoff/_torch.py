"""Products of PyTorch on an emulated device: a mode that catches them below autograd, and the operator roundoff::gemm."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ._emulation import FINE, REAL, Machine, Shared
from ._patches import filters, patches, places
from ._report import Run

aten = torch.ops.aten


@contextlib.contextmanager
def _taken_apart() -> Iterator[None]:
    """Has PyTorch compute attention, encoders and recurrent networks by products, in place of operations of one piece that
    would be left exact. These switches hold for all threads, which then compute the same more slowly."""
    before = [(turn, value()) for value, turn in _ONE_PIECE]
    try:
        for turn, _ in before:
            turn(False)
        yield
    finally:
        for turn, value in before:
            turn(value)


# Switches of operations of one piece: what they are, and how they are turned.
_ONE_PIECE: List[Tuple[Callable[[], bool], Callable[[bool], None]]] = [
    (torch.backends.mha.get_fastpath_enabled, torch.backends.mha.set_fastpath_enabled),
    (lambda: torch.backends.mkldnn.enabled, lambda on: setattr(torch.backends.mkldnn, "enabled", on)),
    *(
        (getattr(torch.backends.cuda, f"{name}_sdp_enabled"), getattr(torch.backends.cuda, f"enable_{name}_sdp"))
        for name in ("flash", "mem_efficient", "cudnn")
        if hasattr(torch.backends.cuda, f"enable_{name}_sdp")
    ),
]
_switches = Shared(_taken_apart)


@contextlib.contextmanager
def emulated(machine: Machine, run: Run) -> Iterator[None]:
    """Has products of this thread computed by the machine."""
    with _switches, _Mode(machine, run):
        yield


@torch.library.custom_op("roundoff::gemm", mutates_args=())
def gemm(
    a: torch.Tensor,
    b: torch.Tensor,
    device: str,
    in_: str = "",
    out_format: str = "",
    split_k: int = 1,
    promote: int = 0,
    plan: str = "",
    recipe: str = "",
    kernel: str = "",
) -> torch.Tensor:
    """Returns the products of a, of the shape (batch, m, k), and b, (batch, k, n), as `roundoff.gemm` computes each,
    of float32. Empty formats are those of the device; without a recipe nothing is quantised."""
    machine = Machine(device, in_ or None, out_format or None, split_k, promote, plan or None, recipe or None, kernel or None)
    return torch.from_numpy(machine.product(_numpy(a), _numpy(b))).to(a.device)


@gemm.register_fake
def _(a: torch.Tensor, b: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return a.new_empty((*a.shape[:2], b.shape[2]), dtype=torch.float32)


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[:2])
    ctx.machine = inputs[2:]


def _backward(ctx: Any, grad: torch.Tensor) -> tuple:
    a, b = ctx.saved_tensors
    of_a = gemm(grad, b.mT, *ctx.machine).to(a.dtype)
    return (of_a, gemm(a.mT, grad.to(a.dtype), *ctx.machine).to(b.dtype), *(None for _ in ctx.machine))


gemm.register_autograd(_backward, setup_context=_keep)


def _numpy(t: torch.Tensor) -> np.ndarray:
    """Returns the numbers of a tensor, as float32 if they are narrower, which changes none."""
    t = t.detach().cpu().resolve_neg()
    return (t if t.dtype in (torch.float32, torch.float64) else t.to(torch.float32)).numpy()


class _Mode(TorchDispatchMode):
    def __init__(self, machine: Machine, run: Run) -> None:
        super().__init__()
        self.machine, self.run = machine, run

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None) -> Any:
        kwargs = dict(kwargs or {})
        name = func.overloadpacket.__name__
        instead = _OPERATORS.get(name) if func.namespace == "aten" else None
        if instead is None:
            if torch.is_inference_mode_enabled():
                with self:  # autograd, which takes them apart elsewhere, is off
                    parts = func.decompose(*args, **kwargs)
                if parts is not NotImplemented:
                    return parts
            if func.namespace == "aten" and _MULTIPLIES.search(name):
                self.run.leave("torch", name)
            return func(*args, **kwargs)
        kinds = {_kind(t) for t in args if isinstance(t, torch.Tensor)}
        why = f" of {', '.join(sorted(kinds))}" if not kinds <= REAL else _unfit(name, args)
        if why:
            self.run.leave("torch", name + why)
            return func(*args, **kwargs)
        if "float64" in kinds:
            self.run.note(FINE)
        out = kwargs.pop("out", None)
        dtype = kwargs.pop("out_dtype", None) or next((x for x in args if isinstance(x, torch.dtype)), None)
        args = [x for x in args if not isinstance(x, torch.dtype)]

        def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            self.run.add("torch", name, a.shape, b.shape, (_kind(a), _kind(b)))
            m = self.machine
            d = torch.ops.roundoff.gemm(a, b, m.device, m.words, m.out_format or "", m.split_k, m.promote, m.plan or "", m.recipes, m.kernel or "")
            return d.to(dtype or a.dtype)

        d = instead(product, *args, **kwargs)
        if out is None and name.endswith("_"):
            out = args[0]
        return d if out is None else out.resize_(d.shape).copy_(d)


def _kind(t: torch.Tensor) -> str:
    return str(t.dtype).removeprefix("torch.")


def _unfit(name: str, args: Any) -> str:
    """Returns why an operation of real numbers cannot be taken apart, or nothing."""
    if name == "convolution" and args[6]:
        return ", transposed"
    return ""


def _added(c: torch.Tensor, d: torch.Tensor, beta: Any = 1, alpha: Any = 1) -> torch.Tensor:
    """beta C + alpha D, of the dtype of D, as the framework adds; of a beta of 0 C is not read."""
    d = d if alpha == 1 else d * alpha
    return d if beta == 0 else (c if beta == 1 else c * beta) + d


def _convolution(product: Callable, x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, _: Any, groups: int) -> Any:
    rank = x.ndim - 2
    each = lambda v: list(v) if len(v) == rank else list(v) * rank
    pads = each(padding)
    d = product(*(torch.from_numpy(np.ascontiguousarray(v)).to(x.dtype).to(x.device) for v in (
        patches(_numpy(x), tuple(w.shape[2:]), pads + pads, each(stride), each(dilation), groups), filters(_numpy(w), groups))))  # fmt: skip
    d = torch.from_numpy(places(_numpy(d), x.shape, tuple(w.shape[2:]), pads + pads, each(stride), each(dilation))).to(d.dtype).to(x.device)
    return d if bias is None else d + bias.reshape(-1, *[1] * rank)


def _mm(product: Callable, a: Any, b: Any) -> Any:
    return product(a[None], b[None])[0]


def _mv(product: Callable, a: Any, x: Any) -> Any:
    return product(a[None], x[None, :, None])[0, :, 0]


# The operations of aten that are products, or a product and what is added to it.
_OPERATORS: Dict[str, Callable] = {
    "mm": _mm,
    "bmm": lambda product, a, b: product(a, b),
    "mv": _mv,
    "dot": lambda product, x, y: product(x[None, None, :], y[None, :, None])[0, 0, 0],
    "addmm": lambda product, c, a, b, **scale: _added(c, _mm(product, a, b), **scale),
    "baddbmm": lambda product, c, a, b, **scale: _added(c, product(a, b), **scale),
    "addmv": lambda product, c, a, x, **scale: _added(c, _mv(product, a, x), **scale),
    "convolution": _convolution,
}
_OPERATORS.update({name + "_": _OPERATORS[name] for name in ("addmm", "baddbmm", "addmv")})

# Others that multiply matrices: they are left exact, which is told.
_MULTIPLIES = re.compile(r"(^|_)(add|b|badd|addb|sspadd|sspadd|hspmm|scaled_|int_|grouped_)?mm(_|$)|convol|attention|rnn|lstm|gru|multi_head|encoder_layer|cdist|trilinear|^linear")
