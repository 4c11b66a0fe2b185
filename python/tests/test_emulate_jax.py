"""Functions of JAX on an emulated device, beside products one by one, with the library's other operations."""

import re
import unittest
from pathlib import Path

import numpy as np

import roundoff
from support import Test, convolved, framework, together

jax = framework("jax")
jnp = jax.numpy
lax = jax.lax
rng = np.random.default_rng(4)
X, W, V = (rng.standard_normal(s).astype(np.float32) for s in ((6, 40), (40, 8), (8, 5)))


def e4m3(a, b):
    return roundoff.gemm(a, b, "hopper", in_="e4m3")


def f8(function):
    return roundoff.emulate("hopper", in_="e4m3")(function)


def einsum(equation, a, b):
    """An einsum of two operands, one product of matrices for each index of the batch; what is summed over comes in the
    order of a."""
    (p, q), out = equation.split("->")[0].split(","), equation.split("->")[1]
    batch, over = [i for i in p if i in q and i in out], [i for i in p if i in q and i not in out]
    rows, columns = [i for i in p if i not in q], [i for i in q if i not in p]
    x = np.einsum(f"{p}->{''.join(batch + rows + over)}", a)
    y = np.einsum(f"{q}->{''.join(batch + over + columns)}", b)
    size = dict(zip(p + q, a.shape + b.shape))
    sizes = lambda names: [size[i] for i in names]
    k, d = int(np.prod(sizes(over))), np.empty(sizes(batch + rows + columns), np.float32)
    for at in np.ndindex(*sizes(batch)):
        d[at] = e4m3(x[at].reshape(-1, k), y[at].reshape(k, -1)).reshape(sizes(rows + columns))
    return np.einsum(f"{''.join(batch + rows + columns)}->{out}", d)


class Products(Test):
    def test_einsum(self):
        for equation, a, b in [
            ("ij,jk->ik", (6, 40), (40, 8)), ("ij,kj->ik", (6, 40), (8, 40)), ("ji,jk->ki", (40, 6), (40, 8)), ("j,j->", (40,), (40,)), ("ij,j->i", (6, 40), (40,)),
            ("bij,bjk->bik", (3, 6, 40), (3, 40, 8)), ("bij,bkj->bik", (3, 6, 40), (3, 8, 40)), ("ibj,bkj->kbi", (6, 3, 40), (3, 8, 40)),
            ("bqhd,bkhd->bhqk", (2, 6, 3, 40), (2, 5, 3, 40)), ("bhqk,bkhd->bqhd", (2, 3, 6, 40), (2, 40, 3, 5)), ("abc,cd->abd", (2, 3, 40), (40, 5)),
            ("i,j->ij", (6,), (8,)), ("ijk,jkl->il", (4, 5, 8), (5, 8, 3)), ("abcd,dce->abe", (2, 3, 5, 8), (8, 5, 4)), ("bi,bi->b", (3, 40), (3, 40)),
        ]:  # fmt: skip
            with self.subTest(equation):
                x, y = (rng.standard_normal(s).astype(np.float32) for s in (a, b))
                want = einsum(equation, x, y)
                function = lambda x, y: jnp.einsum(equation, x, y)
                self.same(np.asarray(f8(function)(x, y)), want)
                self.same(np.asarray(jax.jit(f8(function))(x, y)), want)
                self.assertFalse(np.array_equal(function(x, y), want))

    def test_dot_general(self):
        x, y = rng.standard_normal((3, 5, 4, 7, 8)).astype(np.float32), rng.standard_normal((8, 4, 3, 6, 5)).astype(np.float32)
        got = f8(lambda x, y: lax.dot_general(x, y, (((4, 1), (0, 4)), ((2, 0), (1, 2)))))(x, y)
        want = np.empty((4, 3, 7, 6), np.float32)
        for i, j in np.ndindex(4, 3):
            want[i, j] = e4m3(x[j, :, i].transpose(1, 2, 0).reshape(7, 40), y[:, i, j].transpose(0, 2, 1).reshape(40, 6))
        self.same(np.asarray(got), want)

    def test_settings(self):
        for device, more in [("volta", {}), ("ampere", {"in_": "tf32", "split_k": 2}), ("hopper", {"in_": ("e4m3", "e5m2"), "promote": 32}), ("hopper", {"out_format": "binary16"})]:
            self.same(np.asarray(roundoff.emulate(device, **more)(jnp.matmul)(X, W)), roundoff.gemm(X, W, device, **more))
        for more in ({"plan": "split-blocks"}, {"recipe": ("deepgemm-1x128", "deepgemm-128x128")}):  # of a library
            self.same(np.asarray(roundoff.emulate(**more)(jnp.matmul)(X, W)), roundoff.gemm(X, W, **more))

    def test_dtypes(self):
        for kind in (jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn):
            x, w = jnp.asarray(X).astype(kind), jnp.asarray(W).astype(kind)
            want = jnp.asarray(e4m3(np.asarray(x), np.asarray(w)))
            self.same(np.asarray(f8(jnp.matmul)(x, w)), np.asarray(want.astype(kind)))
            self.same(np.asarray(f8(lambda x, w: jnp.matmul(x, w, preferred_element_type=jnp.float32))(x, w)), np.asarray(want))

    def test_float64(self):
        wide = jax.enable_x64 if hasattr(jax, "enable_x64") else framework("jax.experimental").enable_x64
        with wide(True):
            x, w = X.astype(np.float64) / 3, W.astype(np.float64) / 3
            f = f8(jnp.matmul)
            self.same(np.asarray(jax.jit(f)(x, w)), e4m3(x, w).astype(np.float64))
            self.assertIn("float64 are rounded once", str(f.run))

    def test_left(self):
        f = f8(lambda x, y: (x @ y, jnp.linalg.norm(x)))
        self.assertEqual(f(np.ones((2, 3), np.int32), np.ones((3, 2), np.int32))[0].tolist(), [[3, 3], [3, 3]])
        self.assertEqual((f.run.products, f.run.left), ([], {"jax dot_general of int32": 1}))
        g = f8(jnp.matmul)
        g(X.astype(np.complex64), W.astype(np.complex64))
        self.assertEqual(g.run.left, {"jax dot_general of complex64": 1})

    def test_convolution(self):
        for shape, kernel, strides, padding, dilations, groups in [
            ((2, 4, 9, 8), (6, 4, 3, 2), (1, 1), [(0, 0), (0, 0)], (1, 1), 1), ((2, 4, 9, 8), (6, 2, 3, 2), (2, 1), [(1, 2), (0, 1)], (1, 2), 2),
            ((1, 3, 20), (5, 3, 4), (3,), [(2, 2)], (2,), 1), ((2, 4, 5, 5), (8, 1, 3, 3), (1, 1), [(1, 1), (1, 1)], (1, 1), 4),
        ]:  # fmt: skip
            with self.subTest(shape=shape, kernel=kernel):
                x, w = (rng.standard_normal(s).astype(np.float32) for s in (shape, kernel))
                function = lambda x, w: lax.conv_general_dilated(x, w, strides, padding, rhs_dilation=dilations, feature_group_count=groups)
                want = convolved(e4m3, x, w, padding, strides, dilations, groups)
                f = f8(function)
                self.same(np.asarray(f(x, w)), want)
                self.same(np.asarray(jax.jit(f)(x, w)), want)
                self.assertEqual(jax.grad(lambda x, w: f(x, w).sum(), (0, 1))(x, w)[1].shape, w.shape)
        x, w = rng.standard_normal((2, 9, 8, 4)).astype(np.float32), rng.standard_normal((3, 2, 4, 6)).astype(np.float32)
        got = f8(lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")))(x, w)
        self.same(np.asarray(got), convolved(e4m3, x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), [(0, 0)] * 2, (1, 1), (1, 1), 1).transpose(0, 2, 3, 1))

    def test_empty(self):
        self.assertEqual(f8(jnp.matmul)(X[:0], W).shape, (0, 8))
        self.same(np.asarray(f8(jnp.matmul)(X[:, :0], W[:0])), np.zeros((6, 8), np.float32))

    def test_what_a_function_reads(self):
        # As a function of JAX outside of jit, it reads again what it reads.
        factor = {"now": 1}
        f = f8(lambda x, w: factor["now"] * (x @ w))
        f(X, W)
        factor["now"] = 3
        self.same(np.asarray(f(X, W)), np.float32(3) * e4m3(X, W))

    def test_trees(self):
        f = f8(lambda p, *, x, scale=1.0: {"y": [x @ p["w"] * scale], "n": None})
        self.same(np.asarray(f({"w": W}, x=X, scale=2.0)["y"][0]), e4m3(X, W) * np.float32(2))


class Transformations(Test):
    def test_jit(self):
        f = f8(lambda x, w, v: jax.nn.relu(x @ w) @ v)
        want = e4m3(np.maximum(e4m3(X, W), 0), V)
        self.same(np.asarray(f(X, W, V)), want)
        fast = jax.jit(f)
        for _ in range(3):
            self.same(np.asarray(fast(X, W, V)), want)
        self.assertEqual([(p.m, p.k, p.n, p.calls) for p in f.run.products], [(6, 40, 8, 4), (6, 8, 5, 4)])
        self.same(np.asarray(f8(jax.jit(lambda x, w, v: jax.nn.relu(x @ w) @ v))(X, W, V)), want)

    def test_vmap(self):
        xs, ws = rng.standard_normal((3, 6, 40)).astype(np.float32), rng.standard_normal((40, 4, 8)).astype(np.float32)
        f = f8(jnp.matmul)
        self.same(np.asarray(jax.vmap(f, (0, None))(xs, W)), np.stack([e4m3(x, W) for x in xs]))
        self.same(np.asarray(jax.vmap(f, (None, 1), 1)(X, ws)), np.stack([e4m3(X, ws[:, i]) for i in range(4)], 1))
        self.same(np.asarray(jax.jit(jax.vmap(f, (0, 1)))(xs, ws[:, :3])), np.stack([e4m3(x, ws[:, i]) for i, x in enumerate(xs)]))
        twice = jax.vmap(jax.vmap(f, (None, 1)), (0, None))(xs, ws)
        self.same(np.asarray(twice), np.stack([[e4m3(x, ws[:, i]) for i in range(4)] for x in xs]))
        self.same(np.asarray(f8(jax.vmap(jnp.matmul, (0, 1)))(xs, ws[:, :3])), np.stack([e4m3(x, ws[:, i]) for i, x in enumerate(xs)]))

    def test_grad(self):
        c = rng.standard_normal((6, 8)).astype(np.float32)
        f = f8(jnp.matmul)
        for loss in (lambda x, w: (f(x, w) * c).sum(), jax.jit(lambda x, w: (f(x, w) * c).sum())):
            gx, gw = jax.grad(loss, (0, 1))(X, W)
            self.same(np.asarray(gx), e4m3(c, W.T))
            self.same(np.asarray(gw), e4m3(X.T, c))
        self.assertEqual({p.operation for p in f.run.products}, {"dot_general", "dot_general, backward"})
        gx, gw = f8(jax.grad(lambda x, w: ((x @ w) * c).sum(), (0, 1)))(X, W)
        self.same(np.asarray(gx), e4m3(c, W.T))
        self.same(np.asarray(gw), e4m3(c.T, X).T)  # as JAX writes it: the transpose is of another product
        y, t = jax.jvp(f, (X, W), (X + 1, W - 1))
        self.same(np.asarray(y), e4m3(X, W))
        self.same(np.asarray(t), e4m3(X + 1, W) + e4m3(X, W - 1))

    def test_second_derivatives(self):
        g = f8(lambda w: (jnp.tanh(X @ w) ** 2).sum())
        h = jax.jvp(jax.grad(g), (W,), (W,))[1]
        self.assertEqual(h.shape, W.shape)
        self.assertTrue(np.isfinite(h).all() and np.any(h))

    def test_nested(self):
        f = roundoff.emulate("volta")(lambda x, w, v: f8(jnp.matmul)(x, w) @ v)
        self.same(np.asarray(jax.jit(f)(X, W, V)), roundoff.gemm(e4m3(X, W), V, "volta"))
        self.assertEqual([p.k for p in f.run.products], [8])

    def test_once(self):
        # The function that was transformed computes what it did.
        f = jax.jit(lambda x, w: x @ w)
        before = np.asarray(f(X, W))
        self.assertFalse(np.array_equal(f8(f)(X, W), before))
        self.same(np.asarray(f(X, W)), before)

        def fails(x):
            raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, lambda: f8(fails)(X))
        self.same(np.asarray(f(X, W)), before)

    def test_threads(self):
        wrong = []

        def work(device):
            f = jax.jit(roundoff.emulate(device)(jnp.matmul))
            for _ in range(20):
                if not np.array_equal(f(X, W), roundoff.gemm(X, W, device)):
                    wrong.append(device)

        together(work, ("volta", "hopper", "cdna1", "volta"))
        self.assertEqual(wrong, [])

    def test_large(self):
        a = rng.standard_normal((700, 600)).astype(np.float32)
        f = jax.jit(f8(lambda a: a @ (a.T @ a)))
        self.same(np.asarray(f(a)), e4m3(a, e4m3(a.T, a)))


class Control(Test):
    """What contains products: loops, branches, rules of derivatives."""

    SQUARE = rng.standard_normal((8, 8)).astype(np.float32) / 4

    def test_loops(self):
        m = self.SQUARE
        want = X[:, :8]
        for _ in range(3):
            want = e4m3(want, m)
        for f in (
            lambda x: lax.scan(lambda c, _: (c @ m, None), x, None, length=3)[0],
            lambda x: lax.fori_loop(0, 3, lambda _, c: c @ m, x),
            lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] @ m), (0, x))[1],
            lambda x: jax.jit(lambda x: lax.scan(lambda c, w: (c @ w, c.sum()), x, jnp.stack([m, m, m]))[0])(x),
        ):
            e = f8(f)
            self.same(np.asarray(e(X[:, :8])), want)
            self.same(np.asarray(jax.jit(e)(X[:, :8])), want)
            self.assertEqual(sum(p.calls for p in e.run.products), 6)
        grad = jax.grad(lambda x: f8(lambda x: lax.scan(lambda c, _: (c @ m, None), x, None, length=3)[0])(x).sum())(X[:, :8])
        want = np.ones((6, 8), np.float32)
        for _ in range(3):
            want = e4m3(want, m.T)
        self.same(np.asarray(grad), want)

    def test_condition_of_a_loop(self):
        e = f8(lambda x: lax.while_loop(lambda c: (c[0] @ c[0]) < 100, lambda c: (c[0] * 2,), (x,))[0])
        self.same(np.asarray(e(np.ones(3, np.float32))), np.full(3, 8, np.float32))
        self.assertGreater(len(e.run.products), 0)

    def test_branches(self):
        e = f8(lambda x, i: lax.switch(i, [lambda x: x @ self.SQUARE, lambda x: x, lambda x: x @ self.SQUARE.T], x))
        for i, want in enumerate((e4m3(X[:, :8], self.SQUARE), X[:, :8], e4m3(X[:, :8], self.SQUARE.T))):
            self.same(np.asarray(e(X[:, :8], i)), want)
            self.same(np.asarray(jax.jit(e)(X[:, :8], i)), want)

    def test_checkpoint(self):
        f = f8(lambda x, w: jax.checkpoint(lambda x: jnp.sin(x @ w))(x))
        self.same(np.asarray(f(X, W)), np.asarray(jnp.sin(e4m3(X, W))))
        grad = jax.grad(lambda x: f(x, W).sum())(X)
        self.same(np.asarray(grad), e4m3(np.asarray(jnp.cos(e4m3(X, W))), W.T))

    def test_rules(self):
        # A rule of ours for a derivative stays the rule, and its products run on the device too.
        @jax.custom_vjp
        def reverse(x, w):
            return x @ w

        reverse.defvjp(lambda x, w: (x @ w, (x, w)), lambda kept, ct: (2 * (ct @ kept[1].T), 3 * (kept[0].T @ ct)))

        @jax.custom_jvp
        def forward(x, w):
            return x @ w

        forward.defjvp(lambda p, t: (p[0] @ p[1], 5 * (t[0] @ p[1]) + 7 * (p[0] @ t[1])))
        one = np.ones((6, 8), np.float32)
        for f, left, right in ((reverse, 2, 3), (forward, 5, 7)):
            e = f8(f)
            self.same(np.asarray(e(X, W)), e4m3(X, W))
            for e in (e, jax.jit(e)):
                gx, gw = jax.grad(lambda x, w: e(x, w).sum(), (0, 1))(X, W)
                np.testing.assert_allclose(gx, e4m3(one * left, W.T), rtol=1e-6)
                np.testing.assert_allclose(gw, e4m3(X.T, one * right), rtol=0.1 if f is forward else 1e-6)
                self.assertFalse(np.array_equal(gx, left * (one @ W.T)))

    def test_rule_with_integers(self):
        @jax.custom_vjp
        def f(x, n):
            return n * (x @ W)

        f.defvjp(lambda x, n: (n * (x @ W), n), lambda n, ct: (n * (ct @ W.T), None))
        gx = jax.grad(lambda x: f8(f)(x, 2).sum())(X)
        self.same(np.asarray(gx), 2 * e4m3(np.ones((6, 8), np.float32), W.T))

    def test_weak_types(self):
        self.assertTrue(f8(jnp.matmul)(*[lax.broadcast(1.0, (2, 2))] * 2).weak_type)
        self.assertEqual(f8(lambda x: lax.scan(lambda c, _: (c @ c, None), x, None, length=2)[0])(lax.broadcast(1.0, (2, 2))).tolist(), [[8, 8], [8, 8]])

    def test_libraries(self):
        f = f8(lambda q: jax.nn.dot_product_attention(q, q, q))
        q = rng.standard_normal((2, 6, 3, 8)).astype(np.float32)
        scores = np.einsum("bqhk->bhqk", np.asarray(f(q)))
        self.assertEqual(scores.shape, (2, 3, 6, 8))
        self.assertEqual([(p.batch, p.m, p.k, p.n) for p in f.run.products][:1], [(6, 6, 8, 6)])


class Documents(Test):
    def test_programs(self):
        # What the documents show of networks runs.
        framework("onnx.reference")
        root = Path(__file__).parents[2]
        if not (root / "go.mod").exists():
            self.skipTest("this is not the repository")
        for path in ("README.md", "python/README.md"):
            all_of = re.findall(r"(?ms)^```py\n(.*?)^```$", (root / path).read_text(encoding="utf-8"))
            programs = [p for p in all_of if "roundoff.emulate" in p]
            self.assertEqual(len(programs), 1)
            exec(programs[0], {"roundoff": roundoff, "f": jnp.matmul, "model": np.tanh, "x": X, "print": str})


if __name__ == "__main__":
    unittest.main()
