"""Sweeps on a cluster of Dask: on this machine's cores, or on those of as many machines as there are.

>>> from roundoff import cluster
>>> swept = cluster.sweep(devices="hopper", dist="U(0,1)", m=8, n=4, k=64, seeds=range(1, 5), workers=1)
>>> swept.missing, swept.fails
(0, [])

Without a client the workers are processes of this machine. A script then needs `if __name__ == "__main__":` around what
it does, since they import it, too. With a client, the address of a scheduler, or a cluster such as SLURMCluster or KubeCluster, the
workers are those that it has, and need this package. What is computed does not depend on them: it is byte for byte what
`roundoff sweep -shard 1/1` and `-join` write. Dask is installed by `pip install "roundoff[cluster]"`.
"""

from __future__ import annotations

import collections
import contextlib
import os
import queue
import re
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any, Callable, Deque, Dict, Iterator, Optional, Set, Tuple, Union

from . import _library, _sweeps
from ._arrays import integer
from ._records import Judged, Rows
from ._sweeps import Sweep, Swept, join

__all__ = ["Incomplete", "Judged", "Running", "Sweep", "Swept", "join", "start", "sweep"]

Folder = Union[str, "os.PathLike[str]"]


class Incomplete(RuntimeError):
    """Shards that failed as often as they may. failed has the last exception of each, result what the others join to."""

    def __init__(self, words: str, failed: Dict[int, BaseException], result: Swept) -> None:
        super().__init__(words)
        self.failed, self.result = failed, result


def sweep(
    plan: Optional[Sweep] = None,
    *,
    client: Any = None,
    shards: Optional[int] = None,
    path: Optional[Folder] = None,
    workers: Optional[int] = None,
    retries: int = 3,
    progress: Optional[bool] = None,
    each: Optional[Callable[["Running"], Any]] = None,
    **options: Any,
) -> Swept:
    """Sweeps a plan on a cluster, a `Sweep` or its arguments, and returns the result when all of it is there.

    client is one of Dask, a cluster, or the address of a scheduler; without one there are as many processes on this
    machine as workers says, by default one for each core. The sweep is divided into shards, by default so many that each
    takes about a minute and has draws of every k. Finished ones are kept in the folder path: the same call goes on with
    it. A shard that fails is tried again, retries times; if one fails still, `Incomplete` is raised when all others are
    there. each is called with the `Running` sweep after every shard, whose partial() has the result so far. progress draws
    a bar on stderr, by default if that is a terminal. Ctrl-C ends the sweep and leaves finished shards.

    >>> sweep(Sweep(devices="volta", dist="N(0,1)", m=4, n=4, k=32, seeds=1), workers=1).rows[0].outputs
    16
    """
    show = sys.stderr.isatty() if progress is None else progress
    with start(plan, client=client, shards=shards, path=path, workers=workers, retries=retries, **options) as running:
        bar = _Bar(running) if show else None
        try:
            for _ in running:
                if bar is not None:
                    bar.draw()
                if each is not None:
                    each(running)
        except BaseException as e:
            if bar is not None:
                bar.end()
            if isinstance(e, KeyboardInterrupt) or running.unnamed():
                print(f"roundoff: {'interrupted' if isinstance(e, KeyboardInterrupt) else 'ended'}; {running.kept()}", file=sys.stderr)
            raise
        if bar is not None:
            bar.end()
        return running.result()


def start(
    plan: Optional[Sweep] = None,
    *,
    client: Any = None,
    shards: Optional[int] = None,
    path: Optional[Folder] = None,
    workers: Optional[int] = None,
    retries: int = 3,
    **options: Any,
) -> "Running":
    """Starts a sweep and returns it while it runs. The arguments are those of `sweep`.

    >>> with start(devices="volta", dist="N(0,1)", m=4, n=4, k=32, seeds=range(3), workers=1) as running:
    ...     for shard in running:  # as each is finished
    ...         some = running.partial()
    >>> some.draws, some.missing
    (3, 0)
    """
    if plan is not None and not isinstance(plan, Sweep):
        raise TypeError(f"plan is {plan!r:.60}, want a roundoff.cluster.Sweep, or its arguments by name")
    if plan is not None and options:
        raise ValueError(f"plan is given, and {', '.join(options)} too: want one of them")
    if client is not None and workers is not None:
        raise ValueError(f"workers is {workers}, and client is given, which has its own: want one of them")
    plan = plan or Sweep(**options)
    about = plan.describe()
    of = about["shards"] if shards is None else integer("shards", shards, 1, 1_000_000)
    return Running(plan, about, of, path, client, None if workers is None else integer("workers", workers, 1), integer("retries", retries))


class Running:
    """A sweep that runs on a cluster. To iterate over it waits for shards, and yields the number of each when it is there.
    done is how many there are, of how many; failed are those that failed as often as they may, with their exceptions."""

    def __init__(self, plan: Sweep, about: dict, of: int, path: Optional[Folder], client: Any, workers: Optional[int], retries: int) -> None:
        self.plan, self.about, self.of = plan, about, of
        self.failed: Dict[int, BaseException] = {}
        self._question, self._retries = plan.question(), retries
        self._key = f"roundoff-sweep-{uuid.uuid4().hex[:12]}"
        self._futures: Dict[int, Any] = {}
        self._tries: Dict[int, int] = {}
        self._unfit: Dict[str, str] = {}
        self._ended: "queue.SimpleQueue[Tuple[int, Any]]" = queue.SimpleQueue()
        self._client: Any = None  # where all shards are there it is not asked
        self._close = contextlib.ExitStack()
        self._new: Deque[int] = collections.deque()  # that are there, and no iteration has seen
        self._temporary = path is None
        self.path = Path(tempfile.mkdtemp(prefix="roundoff-sweep-") if path is None else path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._there = self._whole()
        try:
            if len(self._there) < of:
                self._client = _connect(client, workers, self._close)
                self._have = _refuse_others(self._client)
                for i in range(1, of + 1):
                    if i not in self._there:
                        self._submit(i)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def done(self) -> int:
        return len(self._there)

    @property
    def link(self) -> Optional[str]:
        """The dashboard of the cluster."""
        return self._client.dashboard_link if self._client is not None else None

    def file(self, i: int) -> Path:
        """Returns where shard i is, or will be."""
        return self.path / f"shard-{i}-of-{self.of}.csv"

    def kept(self) -> str:
        """Says which shards there are, and where."""
        self._temporary = False
        return f"{self.done} of {self.of} shards are in {self.path}, and the same call with that path goes on with them"

    def unnamed(self) -> bool:
        """Whether there are shards in a folder that will be gone."""
        return self._temporary and bool(self._there)

    def __iter__(self) -> Iterator[int]:
        while self._new or len(self._there) + len(self.failed) < self.of:
            if self._new:
                yield self._new.popleft()
            else:
                self._take(0.5)

    def partial(self) -> Swept:
        """Returns what the shards that are there join to."""
        while self._take(0) is not None or not self._ended.empty():
            pass
        if not self._there:
            draws = self.about["draws"]
            return Swept("", Rows(), self.about["version"], self.about["command"], draws, draws, list(range(1, self.of + 1)), f"0 of {draws} draws")
        return join([self.file(i) for i in sorted(self._there)], partial=True)

    def result(self) -> Swept:
        """Waits for all shards, and returns what they join to. Raises `Incomplete` if some failed."""
        for _ in self:
            pass
        if self.failed:
            i, error = min(self.failed.items())
            words = f"{len(self.failed)} of {self.of} shards failed; shard {i}/{self.of}, tried {self._tries[i]} times: {type(error).__name__}: {error}; {self.kept()}"
            raise Incomplete(words, dict(self.failed), self.partial()) from error
        return join([self.file(i) for i in range(1, self.of + 1)])

    def close(self) -> None:
        """Ends what still runs. Finished shards stay in the folder path, if that was given."""
        for future in self._futures.values():
            with contextlib.suppress(Exception):
                future.cancel()
        self._futures.clear()
        self._close.close()
        if self._temporary and self.path.exists():
            for f in self.path.iterdir():
                f.unlink()
            self.path.rmdir()

    def _whole(self) -> Set[int]:
        """Returns which shards the folder has. What is damaged will be computed again; what is not of this sweep is
        refused by the library."""
        files = {}
        for f in self.path.iterdir():
            m = re.fullmatch(r"shard-(\d+)-of-(\d+)\.csv", f.name)
            if m and int(m[2]) != self.of:
                raise ValueError(f"shards is {self.of}, and {f} is one of {m[2]}: want the same number, or another path")
            if m:
                files[f"{m[1]}/{m[2]}"] = str(f)
        if not files:
            return set()
        found = self.plan.describe(files)["files"]
        for f in found:
            if f["why"]:
                print(f"roundoff: {f['why']}; it is computed again", file=sys.stderr)
        return {int(f["shard"].split("/")[0]) for f in found if f["missing"] == 0 and not f["why"]}

    def _see(self, i: int) -> None:
        """Raises ValueError, or what the library says, if what came for shard i and is in its file is another or not whole."""
        found = self.plan.describe({f"{i}/{self.of}": str(self.file(i))})["files"][0]
        if found["why"] or found["missing"]:
            raise ValueError(found["why"] or f"{self.file(i)} lacks {found['missing']} draws of shard {i}/{self.of}")

    def _submit(self, i: int) -> None:
        fit = {}
        if self._unfit:
            others = [w for w in self._client.nthreads() if w not in self._unfit]
            if not others:
                raise _unfit(self._unfit, self._have)
            fit = {"workers": others, "allow_other_workers": True}
        self._tries[i] = self._tries.get(i, 0) + 1
        future = self._client.submit(_task, self._question, f"{i}/{self.of}", self._have, key=f"{self._key}-{i}-{uuid.uuid4().hex[:8]}", pure=False, **fit)
        self._futures[i] = future
        future.add_done_callback(lambda f, i=i: self._ended.put((i, f)))

    def _take(self, timeout: float) -> Optional[int]:
        """Returns the number of a shard that is finished, after writing it; None after so many seconds, or if what has
        ended is none."""
        try:
            i, future = self._ended.get(timeout=timeout) if timeout else self._ended.get_nowait()
        except queue.Empty:
            self._check()
            return None
        if future is not self._futures.get(i):
            return None
        try:
            got = future.result()
        except Exception as e:
            self._fail(i, future, e)
            return None
        if isinstance(got, tuple):  # the worker cannot compute it
            del self._futures[i]
            if got[0] not in self._unfit:
                print(f"roundoff: worker {got[0]} has {got[1]}, this process {self._have}: it gets no more shards", file=sys.stderr)
            self._unfit[got[0]] = got[1]
            self._tries[i] -= 1
            self._submit(i)
            return None
        _sweeps.write(self.file(i), got)
        try:
            self._see(i)
        except (ValueError, _library.Error) as e:
            self.file(i).unlink()
            self._fail(i, future, ValueError(str(e).partition(";")[0]))  # what follows is of a file that stays
            return None
        del self._futures[i]
        self._there.add(i)
        self._new.append(i)
        return i

    def _fail(self, i: int, future: Any, error: Exception) -> None:
        from distributed import KilledWorker

        del self._futures[i]
        if future.status in ("cancelled", "lost") and not isinstance(error, KilledWorker):  # by a connection that was lost
            while self._client.status == "connecting":
                time.sleep(0.2)
            self._check()
            self._tries[i] -= 1
            self._submit(i)
        elif self._tries[i] > self._retries or isinstance(error, KilledWorker):
            self.failed[i] = error
        else:
            self._submit(i)

    def _check(self) -> None:
        if self._futures and self._client.status not in ("running", "connecting"):
            raise RuntimeError(f"the client of Dask was closed; {self.kept()}")


class _Bar:
    """A bar on stderr, one line that is drawn again."""

    def __init__(self, running: Running) -> None:
        self.running, self.began, self.had = running, time.monotonic(), running.done
        about, link = running.about, running.link
        print(f"{running.about['command']}: {about['draws']} draws in {running.of} shards{', ' + link if link else ''}", file=sys.stderr)
        self.draw()

    def draw(self) -> None:
        done, of = self.running.done, self.running.of
        left = ""
        if done > self.had:
            seconds = (time.monotonic() - self.began) * (of - done) / (done - self.had)
            left = f", {seconds:.0f} s left" if seconds < 120 else f", {seconds / 60:.0f} min left" if seconds < 7200 else f", {seconds / 3600:.0f} h left"
        full = 30 * done // of
        failed = f", {len(self.running.failed)} failed" if self.running.failed else ""
        print(f"\r[{'#' * full}{'.' * (30 - full)}] {done} of {of} shards{failed}{left}\033[K", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        self.draw()
        print(file=sys.stderr)


def _connect(client: Any, workers: Optional[int], close: contextlib.ExitStack) -> Any:
    """Returns a client that is connected: the one that is given, or one that is closed at the end."""
    try:
        import dask.system
        import distributed
    except ImportError as e:
        raise ImportError(f'sweeps on a cluster need Dask: pip install "roundoff[cluster]" ({e})') from e
    if isinstance(client, distributed.Client):
        if client.asynchronous:
            raise ValueError("client is asynchronous, want one that waits")
        if client.status != "running":
            raise RuntimeError(f"the client of Dask is {client.status}, want one that is connected: {client!r:.100}")
        return client
    if client is None:
        cluster = distributed.LocalCluster(
            n_workers=workers or dask.system.CPU_COUNT,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address=None,
            silence_logs=50,
        )
        close.enter_context(cluster)
        client = cluster
    elif not isinstance(client, str) and not hasattr(client, "scheduler_address"):
        raise TypeError(f"client is {client!r:.60}, want a client or a cluster of Dask, or the address of a scheduler")
    try:
        return close.enter_context(distributed.Client(client, set_as_default=False))
    except (OSError, ValueError) as e:
        raise RuntimeError(f"client is {client!r:.100}, and no scheduler of Dask answers there: {e}") from e


def _refuse_others(client: Any) -> str:
    """Returns what this process has of roundoff. Raises RuntimeError if a worker has something else."""
    have = _sweeps.found()
    others = {w: got for w, got in client.run(_probe).items() if got != have}
    if others:
        raise _unfit(others, have)
    return have


def _unfit(others: Dict[str, str], have: str) -> RuntimeError:
    worker, got = min(others.items())
    more = f", and {len(others) - 1} workers more are not" if len(others) > 1 else ""
    return RuntimeError(f"worker {worker} has {got}, this process {have}{more}: want one version everywhere")


def _compute(question: dict, name: str) -> bytes:
    """Computes a shard on a worker, until that is told that nobody wants it."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def stopped() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name in ("closing", "closed", "failed")

    return _sweeps.shard(question, name, stopped)


# What follows is sent to workers as it stands here, and not by its name: they may have no such package.


def _probe(dask_worker: Any = None) -> str:
    try:
        from roundoff._sweeps import found
    except ImportError as e:
        import importlib.metadata

        try:
            return f"roundoff {importlib.metadata.version('roundoff')}, without sweeps ({e})"
        except importlib.metadata.PackageNotFoundError:
            return f"no roundoff ({e})"
    return found(dask_worker.state.nthreads)


def _task(question: dict, name: str, want: str) -> Any:
    from distributed import get_worker

    worker = get_worker()
    have = _probe(worker)
    if have != want:
        return worker.address, have
    from roundoff.cluster import _compute

    return _compute(question, name)


_probe.__module__ = _task.__module__ = "__main__"
