"""What there is: devices, formats, recipes, and the version of the library."""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import _library
from ._records import Device, Format, Recipe, Rows, record

_kept: Dict[str, Any] = {}


def _asked(name: str) -> Any:
    if name not in _kept:
        _kept[name] = _library.ask(name, work=0)
    return _kept[name]


def devices() -> Rows[Device]:
    """Returns the matrix units that are emulated, as `roundoff devices` lists them.

    >>> [d.name for d in devices() if d.architecture == "Volta"]
    ['volta-mma-binary16-binary32', 'volta-mma-binary16-binary16']
    """
    return Rows(record(Device, d) for d in _asked("devices"))


def device(name: str) -> Optional[Device]:
    """Returns the device with this name in full, None if there is none. Every product asks for it."""
    if "by name" not in _kept:
        _kept["by name"] = {d.name: d for d in devices()}
    return _kept["by name"].get(name)


def formats() -> Rows[Format]:
    """Returns the number formats.

    >>> next(f.max for f in formats() if f.name == "e4m3")
    448.0
    """
    return Rows(record(Format, f) for f in _asked("formats")["formats"])


def recipes() -> Rows[Recipe]:
    """Returns the recipes of quantisation, as `roundoff quantise` lists them.

    >>> next(r.element for r in recipes() if r.name == "deepgemm-1x128")
    'e4m3'
    """
    return Rows(record(Recipe, r) for r in _asked("formats")["recipes"])


def threads(n: Optional[int] = None) -> int:
    """Returns how many cores the library uses in this process, after it was told to use n, unless n is None. At first it
    is `GOMAXPROCS` of the environment in which the process started, or the number of all cores.

    >>> before = threads()
    >>> threads(1), threads(before) == before
    (1, True)

    Raises ValueError unless n is positive.
    """
    if n is not None and n < 1:
        raise ValueError(f"n is {n}, want 1 or more")
    return int(_library.ask("threads", {"threads": n}, work=0)["threads"])


def version() -> Dict[str, Any]:
    """Returns the versions of the library and of what built it, and its vector instructions: what a report of a fault
    has to say.

    >>> sorted(version())
    ['abi', 'go', 'system', 'vector', 'version']
    """
    return dict(_asked("version"))
