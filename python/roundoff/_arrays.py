"""Arrays of others as matrices of the library, and why they cannot be."""

from __future__ import annotations

import math
import operator
from typing import Any, Optional

import numpy as np

from ._library import Matrix

# The formats of elements by the names of dtypes: those of NumPy, and of ml_dtypes, which need not be there.
FORMATS = {
    "float64": "binary64", "float32": "binary32", "float16": "binary16", "bfloat16": "bfloat16",
    "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz",
    "float6_e3m2fn": "e3m2", "float6_e2m3fn": "e2m3", "float4_e2m1fn": "e2m1", "float8_e8m0fnu": "e8m0",
    "int8": "int8", "uint8": "uint8", "int32": "int32",
}  # fmt: skip


def array(name: str, x: Any) -> np.ndarray:
    """Returns x as an array of the class ndarray, without copying what is one. Lists of numbers are taken too."""
    if isinstance(x, np.ndarray):
        if type(x) not in (np.ndarray, np.memmap):
            hint = ".filled(...)" if isinstance(x, np.ma.MaskedArray) else " by numpy.asarray"
            raise TypeError(f"{name} is a {type(x).__name__}, whose meaning would be lost; want an ndarray, made of it{hint}")
        return x.view(np.ndarray)
    if hasattr(x, "__array_interface__") or hasattr(x, "__array__"):
        try:
            return array(name, np.asarray(x))
        except (TypeError, ValueError, RuntimeError) as e:
            raise TypeError(f"{name} is a {type(x).__name__} that does not become an array: {e}") from e
    if hasattr(x, "__dlpack__"):
        try:
            return np.from_dlpack(x)
        except (TypeError, ValueError, RuntimeError, BufferError) as e:
            raise TypeError(f"{name} is a {type(x).__name__} that DLPack does not hand over: {e}") from e
    if isinstance(x, (list, tuple)):
        try:
            z = np.asarray(x)
        except ValueError as e:
            raise ValueError(f"{name} is no array: {e}") from e
        if z.dtype.kind in "iu" and np.array_equal(z, z.astype(np.float64).astype(z.dtype)):
            return z.astype(np.float64)  # Python's integers, of no size
        return z
    raise TypeError(f"{name} is {x!r:.60}, want an array")


def format_of(name: str, x: np.ndarray) -> str:
    """Returns the format of the elements of an array."""
    found = FORMATS.get(x.dtype.name)
    if found is None:
        raise TypeError(f"{name} has the dtype {x.dtype}, want one of {', '.join(FORMATS)}")
    if not x.dtype.isnative:
        raise TypeError(f"{name} has the dtype {x.dtype.str}, in the order of bytes of other machines; want {x.dtype.newbyteorder('=').str}")
    return found


def given(name: str, x: Any, dimensions: int = 2) -> np.ndarray:
    """Returns x as an array of so many dimensions, none of them empty, whose elements have a format."""
    z = array(name, x)
    format_of(name, z)
    if z.ndim != dimensions:
        raise ValueError(f"{name} has the shape {z.shape}, want {dimensions} dimension{'s' * (dimensions > 1)}")
    if z.size == 0:
        raise ValueError(f"{name} has the shape {z.shape}, want at least one element")
    return z


def matrix(name: str, x: Optional[np.ndarray], format: Optional[str] = None) -> Optional[Matrix]:
    """Returns an array of two dimensions as the library takes it, where it lies."""
    if x is None:
        return None
    rows, columns = x.shape
    return Matrix((format or format_of(name, x)).encode(), x.ctypes.data, rows, columns, x.strides[0], x.strides[1])


def result(out: Optional[Any], shape: tuple, dtype: Any, *read: Optional[np.ndarray], dtypes: tuple = ()) -> np.ndarray:
    """Returns out, if it is given and can be written, or an array for the result. It must not overlap what is read."""
    if out is None:
        return np.empty(shape, dtype)
    if type(out) is not np.ndarray:
        raise TypeError(f"out is {out!r:.60}, want an ndarray")
    allowed = [np.dtype(d) for d in (dtype, *dtypes)]
    if out.dtype not in allowed:
        raise TypeError(f"out has the dtype {out.dtype.str if not out.dtype.isnative else out.dtype}, want {' or '.join(map(str, allowed))}")
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}, want {shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only, want an array that can be written")
    for x in read:
        if x is not None and np.may_share_memory(out, x):
            raise ValueError("out overlaps an array that is read")
    return out


def integer(name: str, value: Any, least: int = 0, most: int = (1 << 63) - 1) -> int:
    """Returns an integer between least and most."""
    try:
        z = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r:.60}, want an integer") from None
    if not least <= z <= most:
        raise ValueError(f"{name} is {z}, want {least} to {most}")
    return z


def seed(name: str, value: Any) -> int:
    """Returns a seed."""
    return integer(name, value, 0, (1 << 64) - 1)


def number(name: str, value: Any) -> float:
    """Returns a finite number."""
    try:
        z = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r:.60}, want a number") from None
    if not math.isfinite(z):
        raise ValueError(f"{name} is {z}, want a finite number")
    return z


def word(name: str, value: Any) -> str:
    """Returns a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r:.60}, want a text")
    if "\0" in value:
        raise ValueError(f"{name} is {value!r:.60}, which has a zero byte")
    return value


def words(name: str, value: Any) -> str:
    """Returns one word, or those of a sequence between commas: the formats of A and of B, or names of devices."""
    if isinstance(value, (list, tuple)):
        return ",".join(word(name, v) for v in value)
    return word(name, value)
