"""Emulated matrix units, bit for bit, and bounds on what low precision loses.

>>> import numpy as np, roundoff
>>> a, b = np.full((1, 4096), 0.1, np.float32), np.ones((4096, 1), np.float32)
>>> roundoff.gemm(a, b, "hopper", in_="e4m3"), roundoff.exact(roundoff.round(a, "e4m3"), b)
(array([[394.]], dtype=float32), array([[416.]]))
>>> f'{roundoff.bounds(a, b, in_="e4m3")[0].constant:.2g}'  # |error| is at most so many times |A||B|; it is 0.053
'0.055'

Everything is computed by a library of Go in this package, in as many threads as there are cores. Importing the package
does not open it; the first call does. After that, a child of os.fork cannot use it, and says so.
"""

from ._catalogue import devices, formats, recipes, version
from ._library import Error
from ._products import dot, exact, gemm, quantise, round, trace
from ._questions import advise, audit, bounds, predict
from ._records import Advice, Audit, Audited, Bound, Device, Format, Prediction, Quantised, Recipe, Rows, Trace

__all__ = [
    "Advice", "Audit", "Audited", "Bound", "Device", "Error", "Format", "Prediction", "Quantised", "Recipe", "Rows", "Trace",
    "advise", "audit", "bounds", "devices", "dot", "exact", "formats", "gemm", "predict", "quantise", "recipes", "round",
    "trace", "version",
]  # fmt: skip
