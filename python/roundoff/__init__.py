"""Emulated matrix units, bit for bit, and bounds on what low precision loses.

>>> import numpy as np, roundoff
>>> a, b = np.full((1, 4096), 0.1, np.float32), np.ones((4096, 1), np.float32)
>>> roundoff.gemm(a, b, "hopper", in_="e4m3"), roundoff.exact(roundoff.round(a, "e4m3"), b)
(array([[394.]], dtype=float32), array([[416.]]))
>>> f'{roundoff.bounds(a, b, in_="e4m3")[0].constant:.2g}'  # |error| is at most so many times |A||B|; it is 0.053
'0.055'

Everything is computed by a library of Go in this package, on all cores or as many as `threads` says. Importing the package
does not open it; the first call does. After that, a child of os.fork cannot use it, and says so.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._catalogue import devices, formats, recipes, threads, version
    from ._emulation import Emulation, emulate
    from ._infer import infer
    from ._library import Error
    from ._products import dot, exact, gemm, quantise, round, trace
    from ._questions import advise, audit, bounds, predict
    from ._records import Advice, Asked, Audit, Audited, Bound, Device, Format, Inferred, Prediction, Quantised, Recipe, Rows, Trace
    from ._report import Run

__all__ = [
    "Advice", "Asked", "Audit", "Audited", "Bound", "Device", "Emulation", "Error", "Format", "Inferred", "Prediction", "Quantised",
    "Recipe", "Rows", "Run", "Trace", "advise", "audit", "bounds", "devices", "dot", "emulate", "exact", "formats", "gemm", "infer",
    "predict", "quantise", "recipes", "round", "threads", "trace", "version",
]  # fmt: skip

# Where each name is. A module is imported when a name of it is first used: a program that only imports this one waits for
# none of them.
_MODULES = {
    "_catalogue": "devices formats recipes threads version",
    "_emulation": "Emulation emulate",
    "_infer": "infer",
    "_library": "Error",
    "_products": "dot exact gemm quantise round trace",
    "_questions": "advise audit bounds predict",
    "_records": "Advice Asked Audit Audited Bound Device Format Inferred Prediction Quantised Recipe Rows Trace",
    "_report": "Run",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name in _MODULES or name == "_arrays":
        return import_module(f"{__name__}.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found  # which is asked for here no more
    return found


def __dir__() -> list:
    return sorted({*globals(), *__all__})
