"""Compares how roundoff computes networks with onnxruntime: Magika on files of this repository, and small graphs, an
operator or a few in each, on random numbers. Its products are exact, so that both differ by rounding to binary32 alone.

    network_test.py ROUNDOFF
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import contents

rng = np.random.default_rng(1)


def normal(*shape):
    return rng.standard_normal(shape, np.float32)


def computed(roundoff, model, inputs, folder):
    """The outputs of a network as roundoff computes it."""
    np.savez(folder / "x.npz", **inputs)
    line = [roundoff, "audit", "-json", "-recipe", "int8-row", "-device", "hopper-wgmma-e4m3-binary32", "-run", folder / "x.npz", model]
    said = subprocess.run(line, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    return {o["name"]: np.array(o["data"], np.float32).reshape(o["shape"]) for o in json.loads(said.stdout)["outputs"]}


def compared(what, roundoff, model, inputs, folder, tolerance):
    """The greatest difference of the outputs, and those of onnxruntime."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    want, got = dict(zip(names, session.run(names, inputs))), computed(roundoff, model, inputs, folder)
    worst = 0
    for name in names:
        assert got[name].shape == want[name].shape, f"{what}: shape {got[name].shape}, want {want[name].shape}"
        worst = max(worst, float(np.max(np.abs(got[name] - want[name]) / np.maximum(1, np.abs(want[name])))))
    assert worst <= tolerance, f"{what}: outputs differ by {worst}"
    return worst, want, got


def graphs():
    """What each graph is called, its version of ONNX, nodes, inputs and constants. Its output is y."""
    def graph(what, nodes, inputs, constants=(), version=15):
        nodes = [helper.make_node(op, i.split(), [o], **a) for op, i, o, a in nodes]
        return what, version, nodes, inputs, dict(constants)

    x, w = normal(5, 8), normal(8, 6)
    product = ("MatMul", "x w", "p", {})
    for op in "Abs Neg Exp Tanh Erf Sigmoid Relu Identity Reciprocal".split():
        yield graph(op, [product, (op, "p", "y", {})], {"x": x}, {"w": w})
    yield graph("Sqrt", [product, ("Abs", "p", "a", {}), ("Sqrt", "a", "y", {})], {"x": x}, {"w": w})
    for op in "Add Sub Mul Div Max Min".split():
        yield graph(op, [product, (op, "p c", "y", {})], {"x": x}, {"w": w, "c": normal(5, 1)})
        yield graph(op, [product, (op, "c p", "y", {})], {"x": x}, {"w": w, "c": normal(3, 1, 6)})
    yield graph("Pow", [product, ("Pow", "p c", "y", {})], {"x": x}, {"w": w, "c": np.float32(2)})
    for version in (11, 12, 13):
        for axis in (1, 2):
            yield graph("Softmax", [product, ("Softmax", "p", "y", {"axis": axis})], {"x": normal(3, 5, 8)}, {"w": w}, version)
        yield graph("Softmax", [product, ("Softmax", "p", "y", {})], {"x": normal(3, 5, 8)}, {"w": w}, version)
    for op in "ReduceMean ReduceMax".split():
        yield graph(op, [product, (op, "p", "y", {"axes": [0, -1], "keepdims": 0})], {"x": normal(3, 5, 8)}, {"w": w})
    yield graph("ReduceSum", [product, ("ReduceSum", "p a", "y", {})], {"x": normal(3, 5, 8)}, {"w": w, "a": np.array([1], np.int64)})
    for op in "GlobalMaxPool GlobalAveragePool".split():
        yield graph(op, [product, (op, "p", "y", {})], {"x": normal(3, 5, 8)}, {"w": w})
    for a, b in (((5, 8), (8,)), ((8,), (8, 6)), ((2, 1, 5, 8), (3, 8, 6)), ((4, 5, 8), (8, 6))):
        yield graph(f"MatMul {a} {b}", [("MatMul", "x w", "y", {})], {"x": normal(*a)}, {"w": normal(*b)})
    for a in ({}, {"alpha": 0.5, "beta": 2.0}):
        yield graph("Gemm", [("Gemm", "x w c", "y", {"transA": 1, "transB": 1, **a})], {"x": normal(8, 5)}, {"w": normal(6, 8), "c": normal(6)})
    for shape, filters, a in (
            ((2, 4, 9), (6, 2, 3), {"group": 2, "strides": [2], "pads": [1, 2], "dilations": [2]}), ((2, 3, 7), (5, 3, 3), {"auto_pad": "VALID"}),
            ((1, 3, 8, 7), (4, 3, 3, 2), {"strides": [2, 1], "pads": [1, 0, 2, 1]}), ((2, 4, 5, 5), (4, 1, 3, 3), {"group": 4})):
        yield graph("Conv", [("Conv", "x w c", "y", a)], {"x": normal(*shape)}, {"w": normal(*filters), "c": normal(filters[0])})
    yield graph("Gather", [("Gather", "t x", "e", {}), ("MatMul", "e w", "y", {})], {"x": np.array([[3, -1], [0, 3]])}, {"t": normal(4, 8), "w": w})
    yield graph("Transpose, Reshape", [product, ("Transpose", "p", "q", {"perm": [1, 0]}), ("Reshape", "q s", "y", {})],
                {"x": x}, {"w": w, "s": np.array([2, -1, 3])})
    yield graph("Shape, Slice, Concat, Cast, Expand", [
        product, ("Shape", "p", "s", {}), ("Slice", "s zero one", "rows", {}), ("Concat", "three rows", "to", {"axis": 0}), ("Unsqueeze", "p two", "u", {}),
        ("Expand", "three to", "big", {}), ("Cast", "big", "real", {"to": 1}), ("Squeeze", "u two", "v", {}), ("Flatten", "v", "f", {}), ("Gemm", "real f", "y", {})],
        {"x": x}, {"w": w, "zero": np.array([0]), "one": np.array([1]), "two": np.array([2]), "three": np.array([3])})
    yield graph("layer norm", [
        product, ("ReduceMean", "p", "m", {"axes": [-1]}), ("Sub", "p m", "d", {}), ("Pow", "d two", "d2", {}), ("ReduceMean", "d2", "v", {"axes": [-1]}),
        ("Add", "v eps", "ve", {}), ("Sqrt", "ve", "s", {}), ("Div", "d s", "y", {})], {"x": x}, {"w": w, "two": np.float32(2), "eps": np.float32(1e-5)})
    yield graph("attention", [
        ("MatMul", "x wq", "q", {}), ("MatMul", "x wk", "k", {}), ("MatMul", "x wv", "v", {}), ("Transpose", "k", "kt", {"perm": [0, 2, 1]}),
        ("MatMul", "q kt", "s", {}), ("Softmax", "s", "a", {"axis": -1}), ("MatMul", "a v", "y", {})],
        {"x": normal(2, 5, 8)}, {"wq": w, "wk": normal(8, 6), "wv": normal(8, 6)})


def main(roundoff):
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
    with tempfile.TemporaryDirectory() as name:
        folder, worst, count = pathlib.Path(name), 0, 0
        for what, version, nodes, inputs, constants in graphs():
            given = [helper.make_tensor_value_info(n, kinds[v.dtype], v.shape) for n, v in inputs.items()]
            stored = [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()]
            graph = helper.make_graph(nodes, "g", given, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], stored)
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8), folder / "m.onnx")
            worst, count = max(worst, compared(what, roundoff, folder / "m.onnx", inputs, folder, 1e-5)[0]), count + 1
        print(f"network: {count} small graphs differ from onnxruntime by at most {worst:.1e}")

        magika = pathlib.Path(importlib.util.find_spec("magika").origin).parent / "models" / "standard_v3_3" / "model.onnx"
        files = "README.md Makefile go.mod go.sum pkg/network/run.go lab/contents.py Dockerfile CITATION.cff lab/install.sh pkg/viz/draw.js".split()
        inputs = {"bytes": np.array([contents.row(pathlib.Path(f).read_bytes()) for f in files], np.int32)}
        worst, want, got = compared("magika", roundoff, magika, inputs, folder, 1e-4)
        for name, value in want.items():
            assert (value.argmax(-1) == got[name].argmax(-1)).all(), f"magika decides otherwise: {value.argmax(-1)}, {got[name].argmax(-1)}"
        print(f"network: Magika decides as in onnxruntime for {len(files)} files, its outputs differ by at most {worst:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
