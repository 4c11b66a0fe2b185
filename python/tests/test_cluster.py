"""Sweeps on a cluster: what is killed, lost, damaged or of another version changes no byte of the result, or is refused."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import roundoff
from roundoff import _sweeps, cluster
from support import Test, command, folder

try:
    import cloudpickle
    import dask
    import distributed
except ImportError as e:
    raise unittest.SkipTest(f"there is no Dask here: {e}")

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers need not find this file

PLAN = cluster.Sweep(devices=["ieee", "hopper"], dist="U(0,1)", m=4, n=2, k=[16, 40, 24], seeds=range(1, 6))
SHARDS = 7  # of 15 draws
COMMAND = "roundoff sweep -devices ieee,hopper -dist 'U(0,1)' -m 4 -n 2 -k 16,40,24 -seeds 1:5"


def local(workers=1, threads=1):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=threads, host="127.0.0.1", dashboard_address="127.0.0.1:0", worker_dashboard_address=None, silence_logs=50
    )


class Change(distributed.WorkerPlugin):
    """Makes shards take longer, fail, become other ones, or wait until a file is there, on every worker, and notes in a
    folder which process began which."""

    name = "change"

    def __init__(self, seconds=0.0, fails=(), returns={}, waits=None, notes=None):
        self.seconds, self.fails, self.returns, self.waits, self.notes = seconds, fails, returns, waits, notes

    def setup(self, worker):
        try:
            from roundoff import _sweeps
        except ImportError:  # as on a worker that is to have none
            return
        if not hasattr(_sweeps, "shard"):
            return
        self.shard = getattr(_sweeps.shard, "was", _sweeps.shard)

        def shard(question, name, stopped):
            if self.notes:
                with open(os.path.join(self.notes, f"{time.monotonic_ns()}-{os.getpid()}"), "w") as f:
                    f.write(name)
            while self.waits and not name.startswith("1/") and not os.path.exists(self.waits):
                time.sleep(0.05)
            time.sleep(self.seconds)
            if name in self.fails:
                raise ArithmeticError(f"{name} is to fail")
            return self.returns.get(name, lambda q, *a: self.shard(q, *a))(question, name, stopped)

        shard.was = self.shard
        _sweeps.shard = shard

    def teardown(self, worker):
        if hasattr(self, "shard"):
            from roundoff import _sweeps

            _sweeps.shard = self.shard


@contextlib.contextmanager
def changed(client, **how):
    client.register_plugin(Change(**how))
    try:
        yield
    finally:
        if client.status == "running":
            client.unregister_worker_plugin("change")


@contextlib.contextmanager
def said():
    """Returns what is written to stderr."""
    with contextlib.redirect_stderr(io.StringIO()) as text:
        yield text


def setUpModule():
    global shared, client, dir, whole
    shared = local(2)
    client = distributed.Client(shared, set_as_default=False)
    dir = _Folder()
    one = dir.path / "one.csv"
    one.write_bytes(_sweeps.shard(PLAN.question(), "1/1", lambda: False))
    whole = cluster.join([one]).csv


def tearDownModule():
    client.close()
    shared.close()
    dir.doCleanups()


class _Folder(unittest.TestCase):
    def __init__(self):
        super().__init__("run")
        self.path = folder(self)


class Bytes(Test):
    def test_come_from_one_core_of_a_worker_with_one_thread(self):
        cluster.sweep(PLAN, client=client, shards=4)
        self.assertEqual(client.run(roundoff.threads), dict.fromkeys(client.nthreads(), 1))
        self.assertGreaterEqual(roundoff.threads(), min(2, len(os.sched_getaffinity(0))))

    def test_are_those_of_one_process(self):
        for shards in (1, 4, SHARDS, 16):
            swept = cluster.sweep(PLAN, client=client, shards=shards)
            self.assertEqual((swept.csv, swept.missing, swept.draws, swept.command), (whole, 0, 15, COMMAND))
        path = folder(self) / "all.csv"
        swept.save(path)
        self.assertEqual(path.read_text(), whole)
        self.assertEqual(swept.fails, [])
        errors = [r for r in swept.rows if r.bound == "error"]
        self.assertEqual([(r.machine, r.k, r.outputs, r.seeds) for r in errors], [(d, k, 40, "1:5") for d in ("ieee", "hopper") for k in (16, 40, 24)])

    def test_are_those_of_the_command(self):
        path = folder(self)
        mine, theirs = roundoff.version()["version"], command("version").split()[1].rstrip(",")
        arguments = ["-devices", "ieee,hopper", "-dist", "U(0,1)", "-m", 4, "-n", 2, "-k", "16,40,24", "-seeds", "1:5"]
        same = lambda text: text.replace(json.dumps(theirs), json.dumps(mine)).replace(f"# roundoff {theirs}\n", f"# roundoff {mine}\n")
        for shard in ("1/1", "3/16"):
            file = path / f"{shard[0]}.csv"
            command("sweep", *arguments, "-shard", shard, "-o", file)
            self.assertEqual(_sweeps.shard(PLAN.question(), shard, lambda: False).decode(), same(file.read_text()))
        command("sweep", "-join", path / "1.csv", "-o", path / "all.csv")
        self.assertEqual(same((path / "all.csv").read_text()), whole)

    def test_partial(self):
        seen = []
        with changed(client, seconds=0.05), said() as text:
            got = cluster.sweep(PLAN, client=shared.scheduler_address, shards=SHARDS, progress=True, each=lambda r: seen.append((r.partial(), r.done)))
        self.assertEqual(got.csv, whole)
        self.assertIn(f"{SHARDS} of {SHARDS} shards", text.getvalue())
        self.assertEqual((len(seen), seen[-1][1]), (SHARDS, SHARDS))  # each shard is told once, also those that partial() took
        (first, done), (last, _) = seen[0], seen[-1]
        self.assertTrue(0 < first.missing < 15 and len(first.shards) == SHARDS - done and "are missing" in first.text, first.text)
        self.assertEqual((last.csv, last.missing), (whole, 0))
        with cluster.start(PLAN, client=client, shards=SHARDS) as running:
            none = running.partial()
            self.assertEqual((none.draws, none.missing >= 0), (15, True))
        self.assertFalse(running.path.exists())


def until(condition):
    """Waits until a condition is true, a minute at most."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come in a minute")
        time.sleep(0.05)


class Broken(Test):
    @classmethod
    def setUpClass(cls):
        cls.cluster = local(1, 2)
        cls.c = distributed.Client(cls.cluster, set_as_default=False)

    @classmethod
    def tearDownClass(cls):
        cls.c.close()
        cls.cluster.close()

    def test_workers_that_come_and_go(self):
        notes, gate = folder(self), folder(self) / "open"
        began = lambda: [(int(f.name.split("-")[1]), f.read_text()) for f in sorted(notes.iterdir())]
        with changed(self.c, seconds=0.02, waits=str(gate), notes=str(notes)):
            first = next(iter(self.c.run(os.getpid).values()))
            # A worker of two threads computes two shards at a time on two cores, not on all cores each.
            with cluster.start(PLAN, client=self.cluster, shards=15) as running:
                self.assertEqual(next(iter(running)), 1)
                self.assertEqual(set(self.c.run(roundoff.threads).values()), {2})
                self.cluster.scale(2)
                until(lambda: any(pid != first for pid, _ in began()))
                os.kill(first, signal.SIGKILL)  # while it computes two shards
                lost = {name for pid, name in began() if pid == first and name != "1/15"}
                self.assertTrue(lost)
                gate.touch()
                self.assertEqual(running.result().csv, whole)
        self.assertLessEqual(lost, {name for pid, name in began() if pid != first})
        self.assertEqual({name for _, name in began()}, {f"{i}/15" for i in range(1, 16)})
        self.cluster.scale(1)

    def test_connection_that_is_lost(self):
        with changed(client, seconds=0.1), cluster.start(PLAN, client=client, shards=15, retries=0) as running:
            for i, _ in enumerate(running):
                if i == 1:
                    client.loop.add_callback(client.scheduler_comm.comm.abort)
            self.assertEqual(running.result().csv, whole)

    def test_client_that_is_closed(self):
        path = folder(self)
        c = distributed.Client(shared, set_as_default=False)
        with changed(client, seconds=0.2), self.assertRaisesRegex(RuntimeError, rf"the client of Dask was closed; \d+ of 15 shards are in {path}"):
            cluster.sweep(PLAN, client=c, shards=15, path=path, each=lambda r: c.close() if r.done == 2 else None)
        self.assertGreaterEqual(len(list(path.glob("shard-*-of-15.csv"))), 2)
        def fault(running):
            raise KeyError("of the caller")

        with said() as text, self.assertRaises(KeyError):
            cluster.sweep(PLAN, client=client, shards=15, each=fault)
        kept = re.fullmatch(r"roundoff: ended; \d+ of 15 shards are in (\S+), and the same call with that path goes on with them\n", text.getvalue())[1]
        self.assertEqual(cluster.sweep(PLAN, client=client, shards=15, path=kept).csv, whole)
        shutil.rmtree(kept)
        with self.assertRaisesRegex(RuntimeError, "the client of Dask is closed"):
            cluster.sweep(PLAN, client=c)

    def test_cluster_that_is_closed(self):
        c = local(1)
        with said(), self.assertRaisesRegex(RuntimeError, "the client of Dask was closed; 1 of 15 shards"):
            cluster.sweep(PLAN, client=c, shards=15, path=folder(self), each=lambda r: c.close())
        with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), self.assertRaisesRegex(RuntimeError, r"no scheduler of Dask answers there"):
            cluster.sweep(PLAN, client="tcp://127.0.0.1:9")

    def test_task_that_always_fails(self):
        path, notes = folder(self), folder(self)
        with changed(client, fails=["3/7"], notes=str(notes)):
            with self.assertRaisesRegex(cluster.Incomplete, r"^1 of 7 shards failed; shard 3/7, tried 3 times: ArithmeticError: 3/7 is to fail; 6 of 7 shards are in") as e:
                cluster.sweep(PLAN, client=client, shards=SHARDS, path=path, retries=2)
        asked = [(notes / f).read_text() for f in os.listdir(notes)]
        self.assertEqual((asked.count("3/7"), len(asked)), (3, 9))
        found = e.exception
        self.assertEqual((list(found.failed), found.result.missing, found.result.shards), ([3], 2, [3]))
        self.assertIsInstance(found.failed[3], ArithmeticError)
        self.assertEqual(cluster.sweep(PLAN, client=client, shards=SHARDS, path=path).csv, whole)

    def test_worker_that_returns_something_else(self):
        def another(question, name, stopped):
            return _sweeps.shard.was(question, "4/7", stopped)

        def other_plan(question, name, stopped):
            return _sweeps.shard.was({**question, "devices": "volta"}, name, stopped)

        def cut(question, name, stopped):
            return _sweeps.shard.was(question, name, stopped)[:-40]

        for returns, why in ((another, "4/7"), (other_plan, "volta"), (cut, "shard-3-of-7")):
            with self.subTest(why):
                path = folder(self)
                with changed(client, returns={"3/7": returns}), self.assertRaisesRegex(cluster.Incomplete, f"shard 3/7, tried 2 times: ValueError: .*{why}") as e:
                    cluster.sweep(PLAN, client=client, shards=SHARDS, path=path, retries=1)
                self.assertNotIn("it stays", str(e.exception))
                self.assertEqual((list(e.exception.failed), len(list(path.iterdir()))), ([3], 6))
                self.assertEqual(cluster.sweep(PLAN, client=client, shards=SHARDS, path=path).csv, whole)

    def other(self, address, package):
        """Starts a worker that has the package, a dictionary of files, instead of this one."""
        path = folder(self)
        for name, text in package.items():
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_text(text)
        p = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", "other"],
            env={**os.environ, "PYTHONPATH": str(path)}, stderr=subprocess.DEVNULL, cwd=path,
        )  # fmt: skip
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        return p

    def test_other_version(self):
        have = _sweeps.found(1)
        old = r"roundoff 0\.0\.9, library v0\.0\.9"
        packages = {
            old: {"roundoff/__init__.py": "", "roundoff/_sweeps.py": "def found(threads): return 'roundoff 0.0.9, library v0.0.9'"},
            r"(no roundoff|roundoff \S+, without sweeps) \(No module named 'roundoff'\)": {"roundoff.py": "raise ImportError(\"No module named 'roundoff'\")"},
        }
        c = self.c
        for got, package in packages.items():
            until(lambda: len(c.nthreads()) == 1)
            with self.subTest(got):
                if got == old:  # it comes when the sweep has begun, and gets no shard but those that it cannot compute
                    gate = folder(self) / "open"
                    with changed(c, waits=str(gate)), said() as text, cluster.start(PLAN, client=c, shards=15) as running:
                        next(iter(running))
                        p = self.other(self.cluster.scheduler_address, package)
                        until(lambda: running.partial() and text.getvalue())
                        gate.touch()
                        self.assertEqual(running.result().csv, whole)
                    self.assertRegex(text.getvalue(), f"^roundoff: worker tcp://[0-9.:]+ has {got}, this process {re.escape(have)}: it gets no more shards\n$")
                else:
                    p = self.other(self.cluster.scheduler_address, package)
                    c.wait_for_workers(2, timeout=60)
                with self.assertRaisesRegex(RuntimeError, rf"^worker tcp://[0-9.:]+ has {got}, this process {re.escape(have)}: want one version everywhere$"):
                    cluster.sweep(PLAN, client=c, shards=15)
                p.kill()


SCRIPT = """
import sys
from roundoff import cluster
if __name__ == "__main__":
    cluster.sweep(cluster.Sweep(devices=["ieee", "hopper"], dist="U(0,1)", m=4, n=2, k=[16, 40, 24], seeds=range(1, 6)), workers=1, shards=15, path=sys.argv[1],
                  each=lambda r: print(r.done, flush=True) or sys.stdin.readline())
"""


class Folders(Test):
    @unittest.skipIf(sys.platform == "win32", "Windows has no SIGINT to send")
    def test_interrupted(self):
        path = folder(self)
        script = folder(self) / "script.py"
        script.write_text(SCRIPT)
        p = subprocess.Popen([sys.executable, script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            self.assertEqual(p.stdout.readline(), "1\n")
            p.stdin.write("\n"), p.stdin.flush()
            self.assertEqual(p.stdout.readline(), "2\n")
            p.send_signal(signal.SIGINT)
            _, words = p.communicate(timeout=60)
        finally:
            p.kill()
            p.communicate()
        self.assertEqual(p.returncode, -signal.SIGINT)
        self.assertIn(f"roundoff: interrupted; 2 of 15 shards are in {path}, and the same call with that path goes on with them\n", words)
        files = {f.name: f for f in path.iterdir()}
        self.assertEqual((len(files), all(name.startswith("shard-") for name in files)), (2, True))
        kept, damaged = files.values()
        text = damaged.read_bytes()
        damaged.write_bytes(text[:-20])
        before = kept.stat().st_mtime_ns
        notes = str(folder(self))
        with changed(client, notes=notes), said() as words:
            self.assertEqual(cluster.sweep(PLAN, client=client, shards=15, path=path).csv, whole)
        self.assertRegex(words.getvalue(), rf"^roundoff: {damaged}: sweep: shard \S+ is damaged or cut off, .*; it is computed again\n$")
        self.assertEqual((len(os.listdir(notes)), kept.stat().st_mtime_ns, damaged.read_bytes()), (14, before, text))
        # All of it is there: no cluster is asked.
        self.assertEqual(cluster.sweep(PLAN, client="tcp://127.0.0.1:9", shards=15, path=path).csv, whole)

    def test_other_files(self):
        def shard(name, plan=PLAN):
            return _sweeps.shard(plan.question(), name, lambda: False)

        first = shard("1/7")
        other = shard("1/7", cluster.Sweep(devices="ieee", dist="U(0,1)", m=4, n=2, k=16, seeds=[1]))
        cases = [
            (roundoff.Error, "shard-1-of-7.csv is a shard of roundoff sweep -devices ieee -dist .*, the sweep asked for one of .* it stays as it is", {"shard-1-of-7.csv": other}),
            (roundoff.Error, "shard-2-of-7.csv is shard 1/7, not 2/7; it stays as it is", {"shard-1-of-7.csv": first, "shard-2-of-7.csv": first}),
            (roundoff.Error, "a manifest that is damaged or cut off .*; it stays as it is", {"shard-1-of-7.csv": first[:100]}),
            (roundoff.Error, "no shard of a sweep.*; it stays as it is", {"shard-1-of-7.csv": b"machine,data\n"}),
            (ValueError, "shards is 7, and .*shard-1-of-8.csv is one of 8: want the same number, or another path", {"shard-1-of-8.csv": first}),
            (ValueError, 'shard "9/7"', {"shard-9-of-7.csv": first}),
        ]
        for error, words, files in cases:
            path = folder(self)
            for name, data in files.items():
                (path / name).write_bytes(data)
            with self.subTest(words), self.assertRaisesRegex(error, words) as e:
                cluster.sweep(PLAN, client="tcp://127.0.0.1:9", shards=SHARDS, path=path)
            self.assertNotIn("\n", str(e.exception))
            self.assertEqual({f.name: f.read_bytes() for f in path.iterdir()}, files)
        path = folder(self)
        files = [path / f"{i}.csv" for i in (1, 2)]
        for f in files:
            f.write_bytes(first)
        with self.assertRaisesRegex(roundoff.Error, "1.csv and .*2.csv are both shard 1/7, want each once"):
            cluster.join(files, partial=True)
        with self.assertRaisesRegex(roundoff.Error, "6 of 7 shards are missing: 2:7"):
            cluster.join(files[:1])
        self.assertEqual(cluster.join(files[:1], partial=True).missing, 12)


class Refused(Test):
    def test_all(self):
        for error, words, arguments in [
            (TypeError, "plan is 'hopper', want a roundoff.cluster.Sweep", {"plan": "hopper"}),
            (ValueError, "plan is given, and devices too", {"plan": PLAN, "devices": "ieee"}),
            (ValueError, "workers is 2, and client is given", {"plan": PLAN, "client": "tcp://127.0.0.1:9", "workers": 2}),
            (TypeError, "client is 3, want a client or a cluster", {"plan": PLAN, "client": 3}),
            (ValueError, "shards is 0, want 1 to 1000000", {"plan": PLAN, "shards": 0}),
            (TypeError, "k is 1.5, want an integer", {"k": 1.5}),
            (TypeError, "per_output is 1, want True or False", {"per_output": 1}),
            (ValueError, "seed 3 |want none twice", {"seeds": [3, 3]}),
            (ValueError, 'no machine "pascal"', {"devices": "pascal"}),
            (ValueError, "m with standard|m with -standard", {"m": 3, "standard": True}),
            (TypeError, "device", {"device": "hopper"}),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                cluster.sweep(**arguments)

    def test_without_dask(self):
        program = "import sys; sys.modules['distributed'] = None\nfrom roundoff import cluster\ntry: cluster.sweep(devices='ieee', seeds=1)\nexcept ImportError as e: print(e)"
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertRegex(run.stdout, r'^sweeps on a cluster need Dask: pip install "roundoff\[cluster\]" \(', run.stderr)
        self.assertEqual(subprocess.run([sys.executable, "-c", "import roundoff, sys; print('distributed' in sys.modules)"], capture_output=True, text=True).stdout, "False\n")

    def test_stops(self):
        # A shard that nobody wants any more ends, though it would take minutes.
        begun = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "shard 1/1 was cancelled"):
            _sweeps.shard(cluster.Sweep(devices="hopper", dist="U(0,1)", seeds=range(1000)).question(), "1/1", lambda: time.monotonic() > begun + 0.3)
        with cluster.start(cluster.Sweep(devices="hopper", dist="U(0,1)", seeds=range(1000)), client=client, shards=2) as running:
            time.sleep(1)
            self.assertEqual(running.done, 0)
        for _ in range(100):
            if not any(client.processing().values()) and not any(client.run(lambda dask_worker: len(dask_worker.state.executing)).values()):
                break
            time.sleep(0.1)
        self.assertEqual(sum(client.run(lambda: sum(t.name == "roundoff-watch" for t in __import__("threading").enumerate())).values()), 0)


if __name__ == "__main__":
    unittest.main()
