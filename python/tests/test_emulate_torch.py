"""Networks of PyTorch on an emulated device, beside products one by one."""

import threading

import numpy as np

import roundoff
from support import Test, convolved, framework, together

torch = framework("torch")
F = torch.nn.functional
torch.manual_seed(5)
X, W, V = torch.randn(6, 40), torch.randn(40, 8), torch.randn(8, 5)


def e4m3(a, b):
    return torch.from_numpy(roundoff.gemm(np.asarray(a.detach()), np.asarray(b.detach()), "hopper", in_="e4m3"))


def f8(function, *arguments):
    """Returns what a function computes in a block, and what ran."""
    with roundoff.emulate("hopper", in_="e4m3") as run:
        return function(*arguments), run


class Products(Test):
    def equal(self, function, want, *products):
        got, run = f8(function)
        self.same(got.detach().float().numpy(), want.detach().float().numpy())
        self.assertEqual([(p.operation, p.batch, p.m, p.k, p.n) for p in run.products], list(products))
        self.assertEqual(run.left, {})
        self.assertFalse(torch.equal(function(), want))
        with torch.inference_mode():
            self.same(f8(function)[0].float().numpy(), want.detach().float().numpy())

    def test_operations(self):
        d, c = e4m3(X, W), torch.randn(8)
        batch, other = torch.randn(3, 6, 40), torch.randn(3, 40, 8)
        stacked = torch.stack([e4m3(a, b) for a, b in zip(batch, other)])
        one, many = (1, 6, 40, 8), (3, 6, 40, 8)
        self.equal(lambda: X @ W, d, ("mm", *one))
        self.equal(lambda: X @ W[:, 0], d[:, 0], ("mv", 1, 6, 40, 1))
        self.equal(lambda: X[0] @ W[:, 0], d[0, 0], ("dot", 1, 1, 40, 1))
        self.equal(lambda: torch.addmm(c, X, W), d + c, ("addmm", *one))
        self.equal(lambda: torch.addmm(c, X, W, beta=2, alpha=0.5), d * 0.5 + c * 2, ("addmm", *one))
        self.equal(lambda: torch.addmm(c * float("nan"), X, W, beta=0), d, ("addmm", *one))
        self.equal(lambda: torch.addmv(c[:6], X, W[:, 0]), d[:, 0] + c[:6], ("addmv", 1, 6, 40, 1))
        self.equal(lambda: batch @ other, stacked, ("bmm", *many))
        self.equal(lambda: torch.baddbmm(c, batch, other, beta=3), stacked + c * 3, ("baddbmm", *many))
        self.equal(lambda: F.linear(X, W.T, c), d + c, ("addmm", *one))
        self.equal(lambda: torch.einsum("bik,bkj->bij", batch, other), stacked, ("bmm", *many))
        self.equal(lambda: torch.zeros(6, 8).addmm_(X, W), d, ("addmm_", *one))
        self.equal(lambda: torch.mm(X, W, out=torch.empty(0)), d, ("mm", *one))

    def test_dtypes(self):
        for kind in (torch.bfloat16, torch.float16):
            x, w, c = X.to(kind), W.to(kind), torch.randn(8).to(kind)
            self.equal(lambda: torch.addmm(c, x, w), e4m3(x.float(), w.float()).to(kind) + c, ("addmm", 1, 6, 40, 8))
        y, run = f8(lambda: X.double() / 3 @ W.double())
        self.same(y.numpy(), e4m3(X.double() / 3, W.double()).double().numpy())
        self.assertIn("float64 are rounded once", str(run))

    def test_left(self):
        y, run = f8(lambda: (torch.ones(2, 2, dtype=torch.int64) @ torch.ones(2, 2, dtype=torch.int64), torch.cdist(X, X[:, :]), X + 1, X.lgamma()))
        self.assertEqual((run.products, run.left), ([], {"torch mm of int64": 1, "torch _cdist_forward": 1}))
        y, run = f8(lambda: F.conv_transpose1d(torch.randn(1, 2, 5), torch.randn(2, 3, 2)))
        self.assertEqual((run.products, run.left), ([], {"torch convolution, transposed": 1}))

    def test_convolution(self):
        for shape, filters, options in [
            ((2, 4, 9, 8), (6, 2, 3, 2), {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2), "groups": 2}), ((2, 3, 9), (5, 3, 3), {"stride": 2}), ((1, 4, 5, 5), (4, 1, 3, 3), {"groups": 4, "padding": 1}),
        ]:  # fmt: skip
            x, w, c = torch.randn(shape), torch.randn(filters), torch.randn(filters[0])
            rank = len(shape) - 2
            each = lambda name, other: (options.get(name, other),) * rank if isinstance(options.get(name, other), int) else options[name]
            product = lambda a, b: roundoff.gemm(a, b, "hopper", in_="e4m3")
            want = convolved(product, x.numpy(), w.numpy(), [(p, p) for p in each("padding", 0)], each("stride", 1), each("dilation", 1), options.get("groups", 1))
            function = F.conv1d if rank == 1 else F.conv2d
            got, run = f8(lambda: function(x, w, c, **options))
            self.same(got.numpy(), want + c.numpy().reshape(-1, *[1] * rank))
            self.assertEqual([p.operation for p in run.products], ["convolution"])

    def test_of_a_library(self):
        for more in ({"plan": "split-blocks"}, {"recipe": ("deepgemm-1x128", "deepgemm-128x128"), "kernel": "epilogue"}):
            with roundoff.emulate(**more):
                y = X @ W
            self.same(y.numpy(), roundoff.gemm(X.numpy(), W.numpy(), **more))

    def test_operator(self):
        a, b = torch.randn(2, 6, 40, requires_grad=True), torch.randn(2, 40, 8, requires_grad=True)
        d = torch.ops.roundoff.gemm(a, b, "hopper", "e4m3")
        d.sum().backward()
        one = torch.ones(6, 8)
        for i in range(2):
            self.same(d[i].detach().numpy(), e4m3(a[i], b[i]).numpy())
            self.same(a.grad[i].numpy(), e4m3(one, b[i].T).numpy())
            self.same(b.grad[i].numpy(), e4m3(a[i].T, one).numpy())
        torch.library.opcheck(torch.ops.roundoff.gemm, (a, b, "hopper", "e4m3"))


class Networks(Test):
    def setUp(self):
        torch.manual_seed(6)
        self.net = torch.nn.Sequential(torch.nn.Linear(40, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))

    def test_backward(self):
        one, two = self.net[0], self.net[2]
        p = e4m3(X, one.weight.T) + one.bias
        y, run = f8(self.net, X)
        want = e4m3(torch.relu(p), two.weight.T) + two.bias
        self.same(y.detach().numpy(), want.detach().numpy())
        with roundoff.emulate("hopper", in_="e4m3") as run:
            self.net(X).sum().backward()
        g = torch.ones(6, 4)
        self.same(two.bias.grad.numpy(), np.full(4, 6, np.float32))
        self.same(two.weight.grad.numpy(), e4m3(g.T, torch.relu(p)).numpy())
        back = e4m3(g, two.weight) * (p > 0)
        self.same(one.weight.grad.numpy(), e4m3(back.T, X).numpy())
        self.assertEqual(sum(r.calls for r in run.products), 5)

    def test_of_one_piece(self):
        # What PyTorch computes in one piece elsewhere is products here, and is so again afterwards.
        q = torch.randn(2, 3, 6, 8)
        encoder, lstm = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), torch.nn.LSTM(8, 4)
        switches = lambda: (torch.backends.mha.get_fastpath_enabled(), torch.backends.mkldnn.enabled, torch.backends.cuda.flash_sdp_enabled())
        before = switches()
        with torch.no_grad():
            _, run = f8(lambda: (F.scaled_dot_product_attention(q, q, q), encoder(q[0]), lstm(q[0])))
        self.assertEqual(run.left, {})
        self.assertEqual(sum(p.calls for p in run.products), 2 + 2 + 4 + 1 + 3)
        self.assertEqual(switches(), before)
        self.assertTrue(all(before))

    def test_nested(self):
        with roundoff.emulate("hopper", in_="e4m3") as outer:
            with roundoff.emulate("volta") as inner:
                y = X @ W
            z = X @ W
        self.same(y.numpy(), roundoff.gemm(X.numpy(), W.numpy(), "volta"))
        self.same(z.numpy(), e4m3(X, W).numpy())
        self.assertEqual([r.products[0].calls for r in (outer, inner)], [1, 1])

    def test_exceptions(self):
        before = X @ W
        with self.assertRaises(ZeroDivisionError):
            with roundoff.emulate("hopper", in_="e4m3"):
                1 / 0
        with self.assertRaises(Exception):
            with roundoff.emulate("hopper", in_="e4m3"):
                X @ V
        self.assertTrue(torch.equal(X @ W, before))
        self.assertTrue(torch.backends.mkldnn.enabled)

    def test_threads(self):
        start, wrong, exact = threading.Barrier(6), [], X @ W

        def work(device):
            want = exact if device is None else torch.from_numpy(roundoff.gemm(X.numpy(), W.numpy(), device))
            start.wait()
            for _ in range(20):
                if device is None:
                    y = X @ W
                else:
                    with roundoff.emulate(device):
                        y = X @ W
                if not (torch.equal(y, want) if device else torch.allclose(y, want, rtol=1e-5, atol=1e-5)):
                    wrong.append(device)

        together(work, (None, "volta", "hopper", "cdna1", None, "volta"))
        self.assertEqual(wrong, [])
        self.assertTrue(torch.backends.mkldnn.enabled)

    def test_module_is_no_function(self):
        self.assertRaisesRegex(TypeError, "PyTorch and ONNX run within a block", lambda: roundoff.emulate()(self.net))
