"""Products of JAX on an emulated device: functions are traced, and their products replaced by a primitive."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Optional, Sequence

import jax
import numpy as np
from jax.extend import core
from jax.interpreters import ad, batching, mlir

from ._emulation import FINE, REAL, Machine
from ._report import Run

# The products of matrices a of the shape (batch, m, k) and b of (batch, k, n), a bilinear function.
product_p = core.Primitive("roundoff_product")


def transformed(function: Callable, machine: Machine) -> Callable:
    """Returns the function with its products on the machine, and as its attribute run what ran."""
    run = Run(str(machine))
    emulated = _emulated(function, machine, run)
    emulated.run = run  # type: ignore[attr-defined]
    return emulated


def _emulated(function: Callable, machine: Machine, run: Run) -> Callable:
    @functools.wraps(function)
    def emulated(*args: Any, **kwargs: Any) -> Any:
        # A new function each time: JAX keeps what it traced of an old one, which may read what has changed since.
        closed, shape = jax.make_jaxpr(lambda *xs, **ys: function(*xs, **ys), return_shape=True)(*args, **kwargs)
        results = _Interpreter(machine, run).closed(closed, jax.tree.leaves((args, kwargs)))
        return jax.tree.unflatten(jax.tree.structure(shape), results)

    return emulated


class _Interpreter:
    """Computes jaxprs with their products on a machine."""

    def __init__(self, machine: Machine, run: Run) -> None:
        self.machine, self.run = machine, run

    def closed(self, closed: Any, inputs: Sequence[Any]) -> List[Any]:
        """Returns the results of a jaxpr that has its constants."""
        values: Dict[Any, Any] = dict(zip(closed.jaxpr.constvars, closed.consts))
        values.update(zip(closed.jaxpr.invars, inputs))
        read = lambda v: v.val if isinstance(v, core.Literal) else values[v]
        for eqn in closed.jaxpr.eqns:
            results = self.equation(eqn, [read(v) for v in eqn.invars])
            values.update(zip(eqn.outvars, results))
        return [read(v) for v in closed.jaxpr.outvars]

    def equation(self, eqn: Any, inputs: List[Any]) -> List[Any]:
        name, params = eqn.primitive.name, eqn.params
        if not _multiplies(eqn):
            return _bound(eqn, inputs, params)
        if name == "dot_general" or name == "conv_general_dilated":
            kinds = {x.aval.dtype.name for x in eqn.invars}
            if not kinds <= REAL:
                return self.left(eqn, inputs, f"{name} of {', '.join(sorted(kinds))}")
            if name == "dot_general":
                return [self.as_before(eqn, self.dot(inputs[0], inputs[1], params["dimension_numbers"]))]
            if params["batch_group_count"] != 1:
                return self.left(eqn, inputs, f"{name} with batch_group_count={params['batch_group_count']}")
            return [self.as_before(eqn, self.convolution(inputs[0], inputs[1], params))]
        if name in ("jit", "pjit", "closed_call", "core_call"):
            return self.closed(_closed(params.get("jaxpr", params.get("call_jaxpr"))), inputs)
        if name in ("custom_jvp_call", "custom_vjp_call"):
            return self.ruled(eqn, inputs)
        if name in ("scan", "while", "cond", "remat2", "checkpoint", "remat"):
            return _bound(eqn, inputs, {key: self.rewritten(value) for key, value in params.items()})
        return self.left(eqn, inputs, f"products within {name}" if name not in _MULTIPLY else name)

    def left(self, eqn: Any, inputs: List[Any], what: str) -> List[Any]:
        """Computes an equation as it stands, and tells that."""
        self.run.leave("jax", what)
        return _bound(eqn, inputs, eqn.params)

    def as_before(self, eqn: Any, d: Any) -> Any:
        """Returns a result with the dtype that the equation has, weak if that was."""
        aval = eqn.outvars[0].aval
        if d.dtype == aval.dtype and not aval.weak_type:
            return d
        return jax.lax.convert_element_type_p.bind(d, new_dtype=aval.dtype, weak_type=aval.weak_type, sharding=None)

    def dot(self, a: Any, b: Any, dimensions: Any) -> Any:
        """dot_general: each operand as matrices, the batch first; on the left the sum runs along rows, on the right along
        columns."""
        (over_a, over_b), (batch_a, batch_b) = dimensions
        free_a = [i for i in range(a.ndim) if i not in (*over_a, *batch_a)]
        free_b = [i for i in range(b.ndim) if i not in (*over_b, *batch_b)]
        batch, rows, columns = [a.shape[i] for i in batch_a], [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
        k, size = _count(a.shape[i] for i in over_a), _count(batch)
        x = jax.lax.transpose(a, (*batch_a, *free_a, *over_a)).reshape(size, _count(rows), k)
        y = jax.lax.transpose(b, (*batch_b, *over_b, *free_b)).reshape(size, k, _count(columns))
        return self.product(x, y, "dot_general").reshape(*batch, *rows, *columns)

    def convolution(self, x: Any, w: Any, params: Any) -> Any:
        """conv_general_dilated: patches of x by the filters w, a product for each group of channels."""
        spec, groups = params["dimension_numbers"], params["feature_group_count"]
        kernel = [w.shape[i] for i in spec.rhs_spec[2:]]
        x = jax.lax.transpose(x, spec.lhs_spec)  # images, channels, places
        below = jax.lax.conv_general_dilated_patches(
            x, kernel, params["window_strides"], params["padding"], lhs_dilation=params["lhs_dilation"],
            rhs_dilation=params["rhs_dilation"], precision=jax.lax.Precision.HIGHEST,
        )  # fmt: skip
        places = below.shape[2:]
        a = below.reshape(len(x), groups, -1, _count(places)).transpose(1, 0, 3, 2).reshape(groups, len(x) * _count(places), -1)
        b = jax.lax.transpose(w, spec.rhs_spec).reshape(groups, w.shape[spec.rhs_spec[0]] // groups, -1).transpose(0, 2, 1)
        d = self.product(a, b, "conv_general_dilated").reshape(groups, len(x), *places, -1)
        d = jax.numpy.moveaxis(d, -1, 1).transpose(2, 0, 1, *range(3, 3 + len(places))).reshape(len(x), -1, *places)
        return jax.lax.transpose(d, np.argsort(spec.out_spec))

    def product(self, a: Any, b: Any, operation: str) -> Any:
        return product_p.bind(a, b, machine=self.machine, run=self.run, operation=operation)

    def ruled(self, eqn: Any, inputs: List[Any]) -> List[Any]:
        """Computes a function that has a rule for its derivative, and keeps the rule, with its products on the machine
        too."""
        closed_over, given = inputs[: eqn.params["num_consts"]], inputs[eqn.params["num_consts"] :]
        original = lambda *xs: _bound(eqn, [*closed_over, *xs], eqn.params)
        forward = lambda *xs: self.closed(_closed(eqn.params["call_jaxpr"]), [*closed_over, *xs])
        if eqn.primitive.name == "custom_jvp_call":
            with_rule: Any = jax.custom_jvp(forward)
            with_rule.defjvp(_emulated(lambda xs, ts: jax.jvp(original, xs, ts), self.machine, self.run))
        else:
            pull = _emulated(lambda xs, cts: jax.vjp(original, *xs)[1](cts), self.machine, self.run)
            with_rule = jax.custom_vjp(forward)
            with_rule.defvjp(lambda *xs: (forward(*xs), xs), lambda xs, cts: tuple(pull(xs, cts)))
        return with_rule(*given)

    def rewritten(self, value: Any) -> Any:
        """Returns a parameter of an equation, with products on the machine if it is a jaxpr or some of them."""
        if isinstance(value, (tuple, list)):
            return tuple(self.rewritten(v) for v in value) if any(map(_jaxpr_of, value)) else value
        if _jaxpr_of(value) is None:
            return value
        closed = _closed(value)
        inputs = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype, weak_type=v.aval.weak_type) for v in closed.jaxpr.invars]
        new = jax.make_jaxpr(lambda *xs: self.closed(closed, xs))(*inputs)
        return new if isinstance(value, core.ClosedJaxpr) else new.jaxpr


# Primitives that multiply matrices.
_MULTIPLY = frozenset(("dot_general", "conv_general_dilated", "ragged_dot_general", "ragged_dot", "scaled_matmul"))


def _multiplies(eqn: Any) -> bool:
    """Reports whether an equation multiplies matrices, or one within it does."""
    if eqn.primitive.name in _MULTIPLY:
        return True
    inner = [v for value in eqn.params.values() for v in (value if isinstance(value, (tuple, list)) else [value])]
    return any(_multiplies(e) for j in map(_jaxpr_of, inner) if j is not None for e in j.eqns)


def _jaxpr_of(value: Any) -> Any:
    if isinstance(value, core.ClosedJaxpr):
        return value.jaxpr
    return value if isinstance(value, core.Jaxpr) else None


def _closed(value: Any) -> Any:
    return value if isinstance(value, core.ClosedJaxpr) else core.ClosedJaxpr(value, ())


def _bound(eqn: Any, inputs: Sequence[Any], params: Dict[str, Any]) -> List[Any]:
    """Returns the results of the primitive of an equation."""
    found = eqn.primitive.get_bind_params(params)
    functions, params = found if isinstance(found, tuple) else ((), found)  # as in JAX before 0.7, or since
    with eqn.ctx.manager:
        results = eqn.primitive.bind(*functions, *inputs, **params)
    return results if eqn.primitive.multiple_results else [results]


def _count(sizes: Any) -> int:
    return int(np.prod(list(sizes), dtype=np.int64))


def _host(a: Any, b: Any, *, machine: Machine, run: Run, operation: str) -> np.ndarray:
    """Computes the products, at the time when a program runs."""
    x, y = np.asarray(a), np.asarray(b)
    if np.float64 in (x.dtype, y.dtype):
        run.note(FINE)
    run.add("jax", operation, x.shape, y.shape, (x.dtype.name, y.dtype.name))
    return machine.product(x, y)


def _shape(a: Any, b: Any, **_: Any) -> Any:
    return jax.core.ShapedArray((*a.shape[:2], b.shape[2]), np.float32)


def _called(a: Any, b: Any, **params: Any) -> Any:
    aval = _shape(a, b, **params)
    return jax.pure_callback(functools.partial(_host, **params), jax.ShapeDtypeStruct(aval.shape, aval.dtype), a, b)


def _as_operand(d: Any, x: Any) -> Any:
    return d.astype(x.aval.dtype)


def _left_rule(ct: Any, a: Any, b: Any, *, operation: str, **params: Any) -> Any:
    """The derivative by the left factor: that of the result by the right factor, transposed."""
    d = product_p.bind(ct, b.transpose(0, 2, 1), operation=_backward(operation), **params)
    return _as_operand(d, a)


def _right_rule(ct: Any, a: Any, b: Any, *, operation: str, **params: Any) -> Any:
    d = product_p.bind(a.transpose(0, 2, 1), ct, operation=_backward(operation), **params)
    return _as_operand(d, b)


def _backward(operation: str) -> str:
    return operation if operation.endswith(", backward") else operation + ", backward"


def _batched(inputs: Any, axes: Any, **params: Any) -> Any:
    """vmap: more rows, if b is the same for all, more columns, if a is, or a longer batch."""
    a, b = inputs
    at_a, at_b = axes
    bind = functools.partial(product_p.bind, **params)
    if at_b is None:
        a = jax.numpy.moveaxis(a, at_a, 1)
        d = bind(a.reshape(len(a), -1, a.shape[3]), b)
        return d.reshape(*a.shape[:3], -1), 1
    if at_a is None:
        b = jax.numpy.moveaxis(b, at_b, 2)
        d = bind(a, b.reshape(*b.shape[:2], -1))
        return d.reshape(*d.shape[:2], *b.shape[2:]), 2
    a, b = jax.numpy.moveaxis(a, at_a, 0), jax.numpy.moveaxis(b, at_b, 0)
    d = bind(a.reshape(-1, *a.shape[2:]), b.reshape(-1, *b.shape[2:]))
    return d.reshape(*a.shape[:2], *d.shape[1:]), 0


product_p.def_impl(_called)
product_p.def_abstract_eval(_shape)
ad.defbilinear(product_p, _left_rule, _right_rule)
batching.primitive_batchers[product_p] = _batched
mlir.register_lowering(product_p, mlir.lower_fun(_called, multiple_results=False))
