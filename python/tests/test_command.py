"""What Python returns is what the command prints and writes, bit for bit."""

import dataclasses
import json

import ml_dtypes
import numpy as np

import roundoff
from support import Test, command, folder


class Command(Test):
    def setUp(self):
        self.dir = folder(self)
        rng = np.random.default_rng(7)
        self.a, self.b = rng.standard_normal((33, 150)).astype(np.float32), rng.standard_normal((150, 21)).astype(np.float32)
        self.c = rng.standard_normal((33, 21)).astype(np.float32)

    def file(self, name, x):
        path = self.dir / f"{name}.npy"
        np.save(path, x)
        return path

    def test_gemm(self):
        a, b, c, d = self.file("a", self.a), self.file("b", self.b), self.file("c", self.c), self.dir / "d.npy"
        for device, in_, more in [
            ("hopper", "binary16", {}), ("hopper", "e4m3", {"promote": 128}), ("hopper", "e4m3,e5m2", {}), ("volta", "binary16", {"split_k": 3}),
            ("ampere", "tf32", {}), ("ampere", "bfloat16", {"alpha": 0.3, "beta": -2.0}), ("blackwell", "e2m1", {}), ("cdna1", "bfloat16", {}),
            ("cdna2", "binary16", {}), ("cdna3", "binary16", {}), ("cdna3", "e4m3fnuz", {}), ("sapphirerapids", "bfloat16", {}), ("paper", "binary16", {}),
            ("ieee", "binary32", {}), ("hopper", "binary16", {"out_format": "binary16"}), ("hopper", "binary64", {}),
        ]:  # fmt: skip
            with self.subTest(device=device, in_=in_, **more):
                flags = [f"-{k.replace('_', '-').replace('-format', '')}={v}" for k, v in more.items()]
                if "beta" in more:
                    flags += ["-c", c]
                out = {"out_format": "binary64"} if in_ == "binary64" else {}
                command("gemm", "-device", device, "-in", in_, *flags, *(["-out=binary64"] if out else []), a, b, "-o", d)
                got = roundoff.gemm(self.a, self.b, device, in_=in_, c=self.c if "beta" in more else None, **more, **out)
                self.same(got.astype(np.float64), np.load(d))

    def test_gemm_of_integers(self):
        rng = np.random.default_rng(1)
        a, b = rng.integers(0, 256, (9, 70), np.uint8), rng.integers(-128, 128, (70, 5)).astype(np.int8)
        d = self.dir / "d.npy"
        command("gemm", "-device", "sapphirerapids", "-in", "uint8,int8", "-out", "int32", self.file("a", a), self.file("b", b), "-o", d)
        got = roundoff.gemm(a, b, "sapphirerapids", in_=("uint8", "int8"), out_format="int32")
        self.same(got, np.load(d))
        self.same(got, a.astype(np.int32) @ b.astype(np.int32))

    def test_gemm_of_libraries(self):
        a, b, d = self.file("a", self.a), self.file("b", self.b), self.dir / "d.npy"
        for more in [
            {"recipe": ("deepgemm-1x128", "deepgemm-128x128")}, {"recipe": "torchao-e4m3-row", "promote": 128}, {"recipe": "int8-row"},
            {"recipe": "mxe4m3-floor", "device": "blackwell"}, {"recipe": "deepgemm-1x128,deepgemm-128x128", "kernel": "deepseek"},
            {"recipe": "int8-1x128,int8-row", "out_format": "bfloat16"}, {"plan": "split"}, {"plan": "lanes"}, {"plan": "blocks-of-lanes"},
            {"plan": "cublaslt-13.1 h100 66,0,1,0,0,0,35 33x21x150 bf16"},
        ]:  # fmt: skip
            with self.subTest(**more):
                flags = [f"-{k.replace('_format', '')}={v if isinstance(v, str) else ','.join(v) if isinstance(v, tuple) else v}" for k, v in more.items()]
                command("gemm", *flags, a, b, "-o", d)
                self.same(roundoff.gemm(self.a, self.b, **more).astype(np.float64), np.load(d))
        out = np.zeros((33, 21), np.float32)
        self.assertIs(roundoff.gemm(self.a, self.b, recipe="int8-row", out=out), out)
        self.same(out, roundoff.gemm(self.a.astype(np.float64), self.b, recipe="int8-row"))
        for wrong, says in [
            ({"plan": "split", "device": "volta"}, "plan is 'split', and device"), ({"plan": "slit"}, 'plan is "slit"'), ({"kernel": "alpha"}, "kernel"),
            ({"recipe": "int8-row", "in_": "e4m3"}, "in, split_k"), ({"recipe": "int9"}, 'no recipe "int9"'),
        ]:  # fmt: skip
            with self.subTest(**wrong), self.assertRaisesRegex(ValueError, says):
                roundoff.gemm(self.a, self.b, **wrong)

    def test_gemm_of_types(self):
        d = self.dir / "d.npy"
        for kind, in_ in [
            (np.float64, "binary16"), (np.float16, "binary16"), (ml_dtypes.bfloat16, "bfloat16"), (ml_dtypes.float8_e4m3fn, "e4m3"),
            (ml_dtypes.float8_e5m2, "e5m2"), (ml_dtypes.float4_e2m1fn, "e2m1"), (ml_dtypes.float6_e3m2fn, "e3m2"),
        ]:  # fmt: skip
            with self.subTest(kind=kind.__name__):
                device = "hopper" if in_ in ("binary16", "bfloat16", "e4m3", "e5m2") else "blackwell"
                a, b = self.a.astype(kind), self.b.astype(kind)
                command("gemm", "-device", device, "-in", in_, self.file("a", a), self.file("b", b), "-o", d)
                self.same(roundoff.gemm(a, b, device, in_=in_).astype(np.float64), np.load(d))

    def test_gemm_of_finer_numbers(self):
        # Numbers of binary64 are rounded once: by way of binary32 these would become ties, and go the other way.
        d = self.dir / "d.npy"
        for unit, in_ in ((2.0**-11, "binary16"), (2.0**-8, "bfloat16"), (2.0**-4, "e4m3")):
            with self.subTest(in_=in_):
                a = np.where(self.a > 0, 1 + unit + 2.0**-40, 1 + 3 * unit - 2.0**-40)
                b = self.b.astype(np.float64) * (1 + 2.0**-30)
                command("gemm", "-device", "hopper", "-in", in_, self.file("a", a), self.file("b", b), "-o", d)
                got = roundoff.gemm(a, b, "hopper", in_=in_)
                self.same(got.astype(np.float64), np.load(d))
                self.assertFalse(np.array_equal(got, roundoff.gemm(a.astype(np.float32), b, "hopper", in_=in_)))
        numbers = np.arange(2**24, 2**24 + 64, dtype=np.int32).reshape(8, 8)
        command("gemm", "-device", "ieee", "-in", "binary32", self.file("a", numbers), self.file("b", numbers), "-o", d)
        self.same(roundoff.gemm(numbers, numbers, "ieee", in_="binary32").astype(np.float64), np.load(d))

    def test_quantise(self):
        x = self.file("x", self.a[:, :128])
        for r in roundoff.recipes():
            for side in "ab":
                with self.subTest(recipe=r.name, side=side):
                    files = [self.dir / f"{n}.npy" for n in ("codes", "scales", "values")]
                    more = [v for n, f in zip(("codes", "scales", "values"), files) for v in (f"-{n}", f)]
                    z = self.a[:32, :128] if side == "b" else self.a[:, :128]
                    x = self.file("x", z)
                    command("quantise", "-recipe", r.name, "-side", side, *more, x)
                    q = roundoff.quantise(z, r.name, side=side)
                    codes, scales, values = map(np.load, files)
                    np.testing.assert_array_equal(q.codes.view(np.uint8), codes.view(np.uint8))
                    if q.tensor is not None:
                        self.assertEqual(scales[-1, 0], q.tensor)
                        scales = scales[:-1]
                    self.same(q.scales.astype(np.float64), scales)
                    self.same(q.values.astype(np.float64), values)

    def test_trace(self):
        a, b = self.file("a", self.a), self.file("b", self.b)
        said = command("trace", "-in", "e4m3", "-promote", 128, "-row", 2, "-column", 3, a, b)
        t = roundoff.trace(self.a, self.b, "hopper", in_="e4m3", promote=128, row=2, column=3)
        self.assertEqual(str(t), said)
        self.assertEqual(t.result, roundoff.gemm(self.a, self.b, "hopper", in_="e4m3", promote=128)[2, 3])

    def rows(self, said, got, renamed=()):
        want = json.loads(said)
        self.assertEqual(len(got), len(want))
        for row, r in zip(got, want):
            known = dataclasses.asdict(row)
            for old, new in renamed:
                known[new] = known.pop(old)
            self.assertEqual(known, r)

    def test_bounds(self):
        renamed = [("lambda_", "lambda")]
        self.rows(command("bound", "-json", "-m", 64, "-n", 8, "-k", 4096, "-device", "volta"), roundoff.bounds(m=64, n=8, k=4096, device="volta"), renamed)
        self.rows(
            command("bound", "-json", "-m", 4, "-n", 8, "-k", 96, "-in", "e4m3", "-dist", "U(0,1)", "-run", "-confidence", "1-1e-30"),
            roundoff.bounds(m=4, n=8, k=96, in_="e4m3", dist="U(0,1)", run=True, confidence="1-1e-30"),
            renamed,
        )
        a, b = self.file("a", self.a), self.file("b", self.b)
        said = command("bound", "-json", "-recipe", "torchao-e4m3-row", "-permute", 3, a, b)
        # The command names the files, and Python the arguments.
        got = roundoff.bounds(self.a, self.b, recipe="torchao-e4m3-row", permute=3)
        self.rows(said.replace(str(a), "a").replace(str(b), "b"), got, renamed)

    def test_advise(self):
        said = command("advise", "-json", "-tolerance", "2e-2", "-m", 16, "-n", 16, "-k", 512, "-dist", "U(0,1)", "-device", "hopper,cdna3")
        self.rows(said, roundoff.advise(2e-2, m=16, n=16, k=512, dist="U(0,1)", device=("hopper", "cdna3")))

    def test_plans(self):
        plan = "cublaslt-13.1 h100 66,0,4,2,0,0,35"
        renamed = [("lambda_", "lambda")]
        got = roundoff.bounds(m=64, n=64, k=4096, plan=plan)
        self.rows(command("bound", "-json", "-m", 64, "-n", 64, "-k", 4096, "-plan", plan), got, renamed)
        self.assertIn("all-orders", [r.bound for r in got if r.holds])
        said = command("predict", "-plan", plan, "-k", "4096").splitlines()[2:]
        row = roundoff.predict(4096, plan=plan)[0]
        self.assertEqual(float(said[0].split()[3]), float(f"{row.slope:.3g}"))
        with self.assertRaisesRegex(ValueError, "unsupported STAGES_ID 99 for nvjet"):
            roundoff.bounds(m=64, n=64, k=4096, plan="cublaslt-13.1 h100 66,0,4,2,0,0,99")

    def test_predict(self):
        said = command("predict", "-in", "e4m3", "-promote", 128, "-k", "256,4096").splitlines()[2:]
        for line, row in zip(said, roundoff.predict((256, 4096), in_="e4m3", promote=128), strict=True):
            got = [str(row.k), *(f"{v:.3g}" for v in (row.mean, row.deviation, row.slope, row.backward, row.backward_deviation))]
            self.assertEqual([float(w) for w in line.split()], [float(w) for w in got])
        said = command("predict", "-recipe", "mxe4m3-rceil", "-device", "blackwell", "-k", "256", "-m", 64, "-n", 64).splitlines()[2:]
        row = roundoff.predict(256, "blackwell", recipe="mxe4m3-rceil", m=64, n=64)[0]
        self.assertEqual([float(w) for w in said[0].split()[1:3]], [float(f"{v:.3g}") for v in (row.error, row.quantisation)])

    def test_devices(self):
        said = [line.split()[0] for line in command("devices").splitlines()[1:]]
        self.assertEqual([d.name for d in roundoff.devices()], said)

    def test_audit(self):
        model = self.dir / "net.safetensors"
        w = np.random.default_rng(3).standard_normal((24, 96)).astype(np.float32)
        head = json.dumps({"fc.weight": {"dtype": "F32", "shape": [24, 96], "data_offsets": [0, w.nbytes]}}).encode()
        model.write_bytes(len(head).to_bytes(8, "little") + head + w.tobytes())
        report = json.loads(command("audit", "-json", "-recipe", "torchao-e4m3-row,int8-row", model))
        got = roundoff.audit(model=model, recipe="torchao-e4m3-row,int8-row").report
        for p in report["products"]:
            p["file"] = ""  # of activations, which Python takes as arrays
        self.assertEqual(got, report)
