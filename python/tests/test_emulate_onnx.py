"""Networks of onnx.reference on an emulated device, beside products one by one and beside `roundoff audit -run`."""

import json
import threading

import numpy as np

import roundoff
from support import Test, command, convolved, folder, framework, together

onnx = framework("onnx")
reference = framework("onnx.reference")
rng = np.random.default_rng(3)
KINDS = {"float32": onnx.TensorProto.FLOAT, "float64": onnx.TensorProto.DOUBLE, "float16": onnx.TensorProto.FLOAT16, "int64": onnx.TensorProto.INT64}


def normal(*shape):
    return rng.standard_normal(shape, np.float32)


def model(nodes, inputs, constants, version=15):
    """Returns a network of nodes, such as ("MatMul", "x w", "y", {})."""
    nodes = [onnx.helper.make_node(op, i.split(), [o], f"node{k}", **a) for k, (op, i, o, a) in enumerate(nodes)]
    given = [onnx.helper.make_tensor_value_info(n, KINDS[v.dtype.name], v.shape) for n, v in inputs.items()]
    stored = [onnx.numpy_helper.from_array(v, n) for n, v in constants.items()]
    out = onnx.helper.make_tensor_value_info("y", KINDS[next(iter(inputs.values())).dtype.name], None)
    graph = onnx.helper.make_graph(nodes, "g", given, [out], stored)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)], ir_version=8)


def emulated(network, inputs, *device, **options):
    """Returns the output y, and what ran."""
    session = reference.ReferenceEvaluator(network)
    with roundoff.emulate(*device, **options) as run:
        (y,) = session.run(None, inputs)
    return y, run


def e4m3(a, b):
    return roundoff.gemm(a, b, "hopper", in_="e4m3")


class Products(Test):
    def of(self, want, nodes, inputs, constants, version=15):
        network = model(nodes, inputs, constants, version)
        before = reference.ReferenceEvaluator(network).run(None, inputs)[0]
        y, run = emulated(network, inputs, "hopper", in_="e4m3")
        self.same(y, want)
        self.assertFalse(np.array_equal(y, before))
        self.same(reference.ReferenceEvaluator(network).run(None, inputs)[0], before)
        return run

    def test_of_a_library(self):
        x, w = normal(5, 40), normal(40, 7)
        for more in ({"plan": "split-blocks"}, {"recipe": ("deepgemm-1x128", "deepgemm-128x128")}):
            with self.subTest(**more):
                y, _ = emulated(model([("MatMul", "x w", "y", {})], {"x": x}, {"w": w}), {"x": x}, **more)
                self.same(y, roundoff.gemm(x, w, **more))

    def test_matmul(self):
        x, w = normal(5, 40), normal(40, 7)
        run = self.of(e4m3(x, w), [("MatMul", "x w", "y", {})], {"x": x}, {"w": w})
        self.assertEqual([(p.framework, p.operation, p.batch, p.m, p.k, p.n, p.calls) for p in run.products], [("onnx", "MatMul", 1, 5, 40, 7, 1)])
        for a, b in (((5, 40), (40,)), ((40,), (40, 7)), ((40,), (40,)), ((2, 1, 5, 40), (3, 40, 6)), ((3, 40), (2, 40, 6)), ((2, 3, 40), (40, 6)), ((40,), (2, 40, 6)), ((2, 3, 40), (40,))):
            with self.subTest(a=a, b=b):
                x, w = normal(*a), normal(*b)
                p, q = (x[None] if x.ndim == 1 else x), (w[:, None] if w.ndim == 1 else w)
                batch = np.broadcast_shapes(p.shape[:-2], q.shape[:-2])
                p, q = np.broadcast_to(p, (*batch, *p.shape[-2:])), np.broadcast_to(q, (*batch, *q.shape[-2:]))
                want = np.empty((*batch, p.shape[-2], q.shape[-1]), np.float32)
                for at in np.ndindex(*batch):
                    want[at] = e4m3(p[at], q[at])
                self.of(want.reshape(np.matmul(x, w).shape), [("MatMul", "x w", "y", {})], {"x": x}, {"w": w})

    def test_gemm(self):
        x, w, c = normal(40, 5), normal(6, 40), normal(6)
        d = e4m3(x.T, w.T)
        scaled = d * np.float32(0.5) + c * np.float32(2)
        for version in (6, 7, 15):
            more = {"broadcast": 1} if version == 6 else {}
            self.of(d + c, [("Gemm", "x w c", "y", {"transA": 1, "transB": 1, **more})], {"x": x}, {"w": w, "c": c}, version)
            self.of(scaled, [("Gemm", "x w c", "y", {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0, **more})], {"x": x}, {"w": w, "c": c}, version)
        self.of(d, [("Gemm", "x w", "y", {"transA": 1, "transB": 1})], {"x": x}, {"w": w})

    def test_conv(self):
        for shape, filters, a, pads in (
            ((2, 4, 10), (6, 2, 3), {"group": 2, "strides": [2], "pads": [1, 2], "dilations": [2]}, [(1, 2)]), ((2, 3, 7), (5, 3, 3), {"auto_pad": "VALID"}, [(0, 0)]),
            ((1, 3, 8, 7), (4, 3, 3, 2), {"strides": [2, 1], "pads": [1, 0, 2, 1]}, [(1, 2), (0, 1)]), ((2, 4, 5, 5), (4, 1, 3, 3), {"group": 4}, [(0, 0)] * 2),
            ((1, 2, 5, 6), (3, 2, 2, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, [(0, 1), (0, 1)]), ((1, 2, 5, 6), (3, 2, 2, 3), {"auto_pad": "SAME_LOWER"}, [(1, 0), (1, 1)]),
        ):  # fmt: skip
            with self.subTest(shape=shape, filters=filters, **a):
                x, w, c = normal(*shape), normal(*filters), normal(filters[0])
                rank = len(shape) - 2
                d = convolved(e4m3, x, w, pads, a.get("strides", [1] * rank), a.get("dilations", [1] * rank), a.get("group", 1))
                self.of(d + c.reshape(-1, *[1] * rank), [("Conv", "x w c", "y", a)], {"x": x}, {"w": w, "c": c})

    def test_dtypes(self):
        x, w = normal(5, 40), normal(40, 7)
        for kind in (np.float16, np.float64):
            y, run = emulated(model([("MatMul", "x w", "y", {})], {"x": x.astype(kind)}, {"w": w.astype(kind)}), {"x": x.astype(kind)}, "hopper", in_="e4m3")
            self.same(y, e4m3(x.astype(kind), w.astype(kind)).astype(kind))
            self.assertEqual(bool(run.notes), kind == np.float64)
        y, run = emulated(model([("MatMul", "x w", "y", {})], {"x": np.ones((2, 3), np.int64)}, {"w": np.ones((3, 2), np.int64)}), {"x": np.ones((2, 3), np.int64)})
        self.assertEqual((y.tolist(), run.left, run.products), ([[3, 3], [3, 3]], {"onnx MatMul of int64": 1}, []))

    def test_left(self):
        x, w = normal(5, 40), normal(40, 7)
        y, run = emulated(model([("Einsum", "x w", "y", {"equation": "ij,jk->ik"})], {"x": x}, {"w": w}), {"x": x})
        self.assertEqual((run.left, run.products), ({"onnx Einsum": 1}, []))


class Blocks(Test):
    def setUp(self):
        self.x, w = normal(4, 40), normal(40, 6)
        self.w = w
        self.session = reference.ReferenceEvaluator(model([("MatMul", "x w", "y", {})], {"x": self.x}, {"w": w}))
        self.exact = self.run_()

    def run_(self):
        return self.session.run(None, {"x": self.x})[0]

    def test_nested(self):
        with roundoff.emulate("hopper", in_="e4m3") as outer:
            with roundoff.emulate("volta") as inner:
                self.same(self.run_(), roundoff.gemm(self.x, self.w, "volta"))
            self.same(self.run_(), e4m3(self.x, self.w))
        self.same(self.run_(), self.exact)
        self.assertEqual([r.products[0].calls for r in (outer, inner)], [1, 1])

    def test_again(self):
        # The same emulation, one within the other and later, tells of each block.
        e = roundoff.emulate("hopper", in_="e4m3")
        with e as first, e as second:
            self.run_()
        with e as third:
            self.run_()
        self.assertEqual([len(r.products) for r in (first, second, third)], [0, 1, 1])

    def test_exceptions(self):
        operator = framework("onnx.reference.ops.op_matmul").MatMul
        original = operator._run
        with self.assertRaises(ZeroDivisionError):
            with roundoff.emulate("hopper"):
                self.assertIsNot(operator._run, original)
                1 / 0
        self.assertIs(operator._run, original)
        with self.assertRaises(Exception):
            with roundoff.emulate("hopper"):
                self.session.run(None, {"x": self.x[:, :3]})
        self.assertIs(operator._run, original)
        self.same(self.run_(), self.exact)

    def test_threads(self):
        # Each thread has its own device or none, whichever enters and leaves first.
        start, wrong = threading.Barrier(6), []

        def work(device):
            want = self.exact if device is None else roundoff.gemm(self.x, self.w, device)
            start.wait()
            for _ in range(20):
                if device is None:
                    y = self.run_()
                else:
                    with roundoff.emulate(device):
                        y = self.run_()
                if not np.array_equal(y, want):
                    wrong.append(device)

        together(work, (None, "volta", "hopper", "cdna1", None, "volta"))
        self.assertEqual(wrong, [])
        self.same(self.run_(), self.exact)


class Audit(Test):
    def test_run(self):
        # `roundoff audit -run` computes the same network in Go. It scales the factors, by powers of two, which changes
        # nothing here: no factor is small enough to lose digits. Its errors are sums of squares over all elements.
        dir, kind = folder(self), "hopper-wgmma-e4m3-binary32"
        few = lambda *shape: (rng.integers(8, 16, shape) / 8 * rng.choice([-1, 1], shape)).astype(np.float32)
        x, w, v, c = few(16, 64), few(64, 24), few(10, 24), few(10)
        network = model([("MatMul", "x w", "p", {}), ("Relu", "p", "q", {}), ("Gemm", "q v c", "y", {"transB": 1})], {"x": x}, {"w": w, "v": v, "c": c})
        onnx.save(network, dir / "m.onnx")
        np.savez(dir / "x.npz", x=x)
        said = json.loads(command("audit", "-json", "-recipe", "torchao-e4m3-row-power", "-device", kind, "-promote", 0, "-run", dir / "x.npz", dir / "m.onnx"))
        y, run = emulated(network, {"x": x}, kind)
        exact = np.array(said["outputs"][0]["data"], np.float32).reshape(y.shape).astype(np.float64) - c
        products = next(r for r in said["runs"] if r["device"] == kind)["products"]
        d = roundoff.gemm(np.maximum(roundoff.gemm(x, w, kind), 0), v.T, kind)
        self.same(y, d + c)
        error = np.sqrt(np.sum((d.astype(np.float64) - exact) ** 2) / np.sum(exact**2))
        self.assertGreater(error, 1e-4)
        self.assertAlmostEqual(products[1]["both"], error, delta=1e-12 * error)
        self.assertEqual([p["k"] for p in products], [p.k for p in run.products])
