"""What a sweep is, its shards, and what they join to. Here is all that a worker of a cluster computes."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import os
import threading
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import _arrays as arrays
from . import _catalogue, _library
from ._products import Words
from ._records import Judged, Rows, record

Numbers = Union[int, str, Sequence[int]]


@dataclass(frozen=True)
class Sweep:
    """What is swept, in the words of the flags of `roundoff sweep`: on each of the devices, and by each of the plans of
    libraries, A of m × k is multiplied by B of k × n, drawn from each distribution of dist for each k and each seed, and
    every bound, or those of bounds, is tested at each confidence. With recipe A and B are quantised first, by each recipe
    that a device takes. What is None is as there; with standard only the seeds, told, and what of devices, dist and k is to
    be swept may be given, and with atlas, the plan of `roundoff atlas`, the same without told and with recipe.

    >>> Sweep(devices="hopper", dist="U(0,1)", k=[16, 256], seeds=range(1, 101)).describe()["command"]
    "roundoff sweep -devices hopper -dist 'U(0,1)' -k 16,256 -seeds 1:100"
    """

    devices: Optional[Words] = None
    plans: Optional[Words] = None
    recipe: Optional[Words] = None
    dist: Optional[Words] = None
    m: Optional[int] = None
    n: Optional[int] = None
    k: Optional[Numbers] = None
    seeds: Optional[Numbers] = None
    confidence: Union[float, str, Sequence[float], None] = None
    per_output: Optional[bool] = None
    told: Optional[Words] = None
    ranges: Optional[bool] = None
    represented: Optional[bool] = None
    bounds: Optional[Words] = None
    standard: bool = False
    atlas: bool = False

    def question(self) -> Dict[str, Any]:
        """Returns the question, as the library reads it. Raises TypeError or ValueError for what no flag can be."""
        given = {f.name: v for f in fields(self) if (v := getattr(self, f.name)) is not None}
        written: Dict[str, Callable[[str, Any], Any]] = {"m": arrays.integer, "n": arrays.integer, "k": _numbers, "seeds": _numbers, "confidence": _confidences, "plans": _plans}
        for name in ("devices", "recipe", "dist", "told", "bounds"):
            written[name] = arrays.words
        return {name: written.get(name, _truth)(name, v) for name, v in given.items()}

    def describe(self, files: Optional[Dict[str, str]] = None) -> Dict[str, Any]:
        """Returns what the library says of the sweep: its version, the command, how many draws and outputs there are and
        into how many shards it is best divided; and of files, names by shard, which have what of it."""
        return _library.ask("sweep", {**self.question(), "files": files}, work=_library.LONG if files else 0)


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is {value!r:.60}, want True or False")
    return value


def _numbers(name: str, value: Any) -> str:
    if isinstance(value, str):
        return arrays.word(name, value)
    if isinstance(value, range) and value.step == 1 and value.start >= 0 and len(value) > 1:
        return f"{value.start}:{value.stop - 1}" if name == "seeds" else ",".join(map(str, value))
    try:
        many = list(value)
    except TypeError:
        many = [value]
    return ",".join(str(arrays.seed(name, v)) for v in many)


def _confidences(name: str, value: Any) -> str:
    if isinstance(value, str):
        return arrays.word(name, value)
    return ",".join(repr(arrays.number(name, v)) for v in (value if isinstance(value, (list, tuple)) else [value]))


def _plans(name: str, value: Any) -> str:
    return ";".join(arrays.word(name, v) for v in ([value] if isinstance(value, str) else value))


@dataclass(frozen=True, eq=False)
class Swept:
    """The result of a sweep, or of those of its draws that there are: csv, the text that `roundoff sweep -join` writes,
    the same bytes for every number of shards; its rows; how many draws the sweep has, how many are missing, and which
    shards; text says so in words."""

    csv: str
    rows: Rows[Judged]
    version: str
    command: str
    draws: int
    missing: int
    shards: List[int]
    text: str

    @property
    def fails(self) -> List[Judged]:
        """Rows of bounds that are claimed and exceeded more often than stated: there should be none."""
        return [r for r in self.rows if r.fails]

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes csv into a file, whole or not at all."""
        write(Path(path), self.csv.encode())

    def frame(self) -> Any:
        """Returns the rows as a frame of pandas. Raises ImportError where there is no pandas."""
        return self.rows.frame()

    def __str__(self) -> str:
        return f"{self.command}: {self.text}, {sum(r.outputs for r in self.rows if r.bound == 'error')} outputs, {len(self.fails)} claimed bounds fail"


def join(files: Sequence[Union[str, "os.PathLike[str]"]], partial: bool = False) -> Swept:
    """Returns what the shards in files join to: all of a sweep, or with partial those that there are. They are read by the
    library, one after the other.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     third = Path(folder, "3.csv")
    ...     _ = third.write_bytes(shard({"devices": "volta", "m": 4, "n": 4, "k": "32"}, "3/8", lambda: False))
    ...     join([third], partial=True).text
    '1 of 8 draws: shards 1:2,4:8 are missing'
    """
    answer = _library.ask("join", {"files": [os.fspath(f) for f in files], "partial": partial})
    answer["shards"] = answer["shards"] or []
    answer["rows"] = Rows(record(Judged, r) for r in answer["rows"])
    return Swept(**answer)


def shard(question: Dict[str, Any], name: str, stopped: Callable[[], bool]) -> bytes:
    """Returns the file of a shard, as "3/16", of a sweep: the bytes that `roundoff sweep -shard 3/16` writes. It ends soon
    after stopped returns True, by RuntimeError. The interpreter's lock is released while it is computed."""
    cancel, done = ctypes.c_int32(0), threading.Event()

    def watch() -> None:
        while not done.wait(0.25):
            if stopped():
                cancel.value = 1
                return

    threading.Thread(target=watch, name="roundoff-watch", daemon=True).start()
    try:
        return _library.ask("sweep", {**question, "shard": name}, cancel=cancel, read=bytes)
    except KeyboardInterrupt:
        if cancel.value:
            raise RuntimeError(f"shard {name} was cancelled") from None
        raise
    finally:
        done.set()


def found(threads: Optional[int] = None) -> str:
    """Returns which roundoff this process has: the version of the package and of the library, and where that has no
    commit to its name, how its file begins in SHA-256. Unless the library is open already, or GOMAXPROCS is in the
    environment, it will use so many cores, as many as the process has threads for tasks: more would be those of its
    neighbours."""
    if threads is not None and _library._library is None and "GOMAXPROCS" not in os.environ:
        _catalogue.threads(threads)
    try:
        package = importlib.metadata.version("roundoff")
    except importlib.metadata.PackageNotFoundError:
        package = "of no version"
    version = _catalogue.version()["version"]
    if "devel" in version or "dirty" in version:
        version += " " + hashlib.sha256(Path(__file__).with_name(_library.NAME).read_bytes()).hexdigest()[:12]
    return f"roundoff {package}, library {version}"


def write(path: Path, data: bytes) -> None:
    """Writes a file, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with open(beside, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
