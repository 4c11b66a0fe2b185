"""Functions of another process, as internal/examine of the Go module speaks of them: lines of JSON over a connection.

A call names its function by a number and has a type, in Go's notation; by it values are written and read here.
"""

from __future__ import annotations

import fractions
import json
import math
import numbers
import re
import threading
from functools import lru_cache
from typing import Any, Callable, Dict

import numpy as np

LONGEST = 1 << 19  # of a list, which then fits into a message of 16 MB

_WORD = re.compile(r"\s*(func|\[\]|[\w.*]+|[(){},])")


class Refused(Exception):
    """The text with which the other end refuses a call, or with which it ended."""


@lru_cache(maxsize=None)
def signature(notation: str) -> Any:
    """Returns the type that Go writes so: a name, ("[]", element), (name of a struct, types of its fields) or
    ("func", types of arguments, types of results).

    >>> signature("func([]float64, int) (float64, main.Pair{int, int})")
    ('func', (('[]', 'float64'), 'int'), ('float64', ('main.Pair', ('int', 'int'))))
    """
    words = _WORD.findall(notation)
    words.reverse()

    def several(end: str) -> tuple:
        found = []
        while words and words[-1] != end:
            found.append(one())
            if words and words[-1] == ",":
                words.pop()
        words.pop()
        return tuple(found)

    def one() -> Any:
        word = words.pop()
        if word == "[]":
            return ("[]", one())
        if word == "func":
            words.pop()  # (
            arguments = several(")")
            if not words or words[-1] in "),}":
                return ("func", arguments, ())
            if words[-1] == "(":
                words.pop()
                return ("func", arguments, several(")"))
            return ("func", arguments, (one(),))
        if words and words[-1] == "{":
            words.pop()
            return (word, several("}"))
        return word

    return one()


# What structs are here, by their names in Go: classes of tuples.
structs: Dict[str, Callable[..., Any]] = {}


class Peer:
    """One end of a connection: files of bytes to read from and to write to."""

    def __init__(self, reading: Any, writing: Any) -> None:
        self.reading, self.writing = reading, writing
        self.lock = threading.Lock()

    def call(self, number: int, type_: Any, *arguments: Any) -> Any:
        """Calls a function of the other end."""
        with self.lock:
            self.send({"call": number, "args": [self.encoded("an argument is", v, t) for v, t in zip(arguments, type_[1])]})
            message = self.receive()
        if message.get("panic"):
            raise Refused(message["panic"])
        results = [self.decoded(v, t) for v, t in zip(message.get("results", ()), type_[2])]
        return results[0] if len(results) == 1 else tuple(results)

    def serve(self, function: Callable[..., Any], running: Callable[[bool], None]) -> None:
        """Answers calls of the function until the connection ends. It calls running before and after each."""
        while True:
            try:
                message = self.receive()
            except Refused:
                return
            self.send(self.answer(message, function, running))

    def answer(self, message: dict, function: Callable[..., Any], running: Callable[[bool], None]) -> dict:
        """Calls the function as a message asks, and returns what came of it."""
        type_ = signature(message["type"])
        arguments = [self.decoded(v, t) for v, t in zip(message.get("args", ()), type_[1])]
        try:
            running(True)
            try:
                result = function(*arguments)
            finally:
                running(False)
            return {"results": self.results(function, result, type_[2])}
        except KeyboardInterrupt:
            raise
        except BaseException as e:  # noqa: BLE001: of a student's function, SystemExit too
            return {"panic": said(e, function)}

    def results(self, function: Callable[..., Any], result: Any, types: tuple) -> list:
        """Returns what a function returned, to be sent."""
        name = getattr(function, "__name__", "the function")
        if len(types) == 1:
            return [self.encoded(f"{name} returned", result, types[0])]
        if not isinstance(result, (tuple, list)) or len(result) != len(types):
            raise TypeError(f"{name} returned {short(result)}, want {len(types)} values")
        return [self.encoded(f"{name} returned as value {i + 1}", v, t) for i, (v, t) in enumerate(zip(result, types))]

    def send(self, message: dict) -> None:
        try:
            self.writing.write(json.dumps(message).encode() + b"\n")
            self.writing.flush()
        except (OSError, ValueError):
            raise Refused("ended before it returned") from None

    def receive(self) -> dict:
        try:
            line = self.reading.readline()
        except (OSError, ValueError):
            line = b""
        if not line:
            raise Refused("ended before it returned")
        return json.loads(line)

    def encoded(self, name: str, value: Any, type_: Any) -> Any:
        """Returns the JSON of a value of a type. Raises TypeError with the name if it is another one."""
        if type_ == "float64" and type(value) is float:  # before all else: sums send thousands of them
            return repr(value)
        wrong = f"{name} {short(value)}, want "
        if type_ == "float64":
            return repr(number(wrong, value))
        if type_ in ("int", "uint64"):
            if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.bool_)):
                raise TypeError(wrong + "an integer")
            if not (0 if type_ == "uint64" else -(1 << 63)) <= int(value) < 1 << (64 if type_ == "uint64" else 63):
                raise TypeError(wrong + "an integer of 64 bits" + (", 0 or more" if type_ == "uint64" else ""))
            return int(value)
        if type_ == "string":
            if not isinstance(value, str):
                raise TypeError(wrong + "a str")
            return value
        if type_ == "*big.Rat":
            if not isinstance(value, numbers.Rational) or isinstance(value, bool):
                raise TypeError(wrong + "a Fraction")
            return f"{int(value.numerator)}/{int(value.denominator)}"
        if type_ == "examine.Sheet":
            if not hasattr(value, "_csv"):
                raise TypeError(wrong + "a Chart of roundoff.course")
            return value._csv()
        if type_[0] == "[]":
            return self.listed(wrong, name, value, type_[1])
        if not isinstance(value, structs.get(type_[0], ())):  # type: ignore[arg-type]
            raise TypeError(wrong + f"a {type_[0].split('.')[-1]}")
        return [self.encoded(name, v, t) for v, t in zip(value, type_[1])]

    def listed(self, wrong: str, name: str, value: Any, element: Any) -> list:
        """Returns the JSON of a list or an array of one dimension."""
        if isinstance(value, np.ndarray):
            if value.ndim != 1 or element == "float64" and value.dtype.kind not in "fiu":
                raise TypeError(f"{name} an array of the shape {value.shape} and the dtype {value.dtype}, want one dimension of floats")
            value = value.tolist() if value.dtype.itemsize <= 8 else list(value)
        elif not isinstance(value, (list, tuple)):
            raise TypeError(wrong + ("a list or an array of floats" if element == "float64" else "a list"))
        if len(value) > LONGEST:
            raise TypeError(f"{name} {len(value)} values, of which {LONGEST} at most are sent")
        return [self.encoded(f"{name} a list with", v, element) for v in value]

    def decoded(self, sent: Any, type_: Any) -> Any:
        """Returns the value of a type that the other end sent."""
        if type_ == "float64":
            return float(sent)
        if type_ == "*big.Rat":
            return fractions.Fraction(sent)
        if type_[0] == "[]":
            if type_[1] == "float64":
                return np.array([float(v) for v in sent or ()])
            return [self.decoded(v, type_[1]) for v in sent or ()]
        if type_[0] == "func":
            return lambda *arguments: self.call(sent, type_, *counted(arguments, type_))
        if isinstance(type_, tuple):
            return structs.get(type_[0], lambda *fields: fields)(*(self.decoded(v, t) for v, t in zip(sent, type_[1])))
        return sent


def counted(arguments: tuple, type_: Any) -> tuple:
    """Returns the arguments of a function of the other end if there are as many as it takes."""
    if len(arguments) != len(type_[1]):
        raise TypeError(f"the function takes {len(type_[1])} arguments, not {len(arguments)}")
    return arguments


def number(wrong: str, value: Any) -> float:
    """Returns a number as a float, exactly. Raises TypeError that begins with the text if it is none."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise TypeError(wrong + "a float")
    try:
        x = float(value)
    except OverflowError:
        x = math.inf
    if x != value and value == value:
        raise TypeError(wrong + "a float of 64 bits")
    return x


def short(value: Any) -> str:
    """Returns a value as it is shown, in 60 letters at most."""
    try:
        text = repr(value)
    except Exception as e:  # noqa: BLE001: it is a student's
        text = f"a {type(value).__name__}, whose repr raises {type(e).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def said(e: BaseException, function: Any = None) -> str:
    """Returns what an exception says, as a line, and where in the student's cell it was raised."""
    if isinstance(e, Refused):
        return str(e)
    try:
        text = str(e)
    except Exception:  # noqa: BLE001: it is a student's
        text = "it does not say what"
    if len(text) > 1000:
        text = text[:1000] + "..."
    where = ""
    code, trace = getattr(function, "__code__", None), e.__traceback__
    while code is not None and trace is not None:
        if trace.tb_frame.f_code is code:
            where = f" (line {trace.tb_lineno - code.co_firstlineno + 1} of {code.co_name})"
        trace = trace.tb_next
    return f"{type(e).__name__}: {' '.join(text.split())}{where}"
