"""The C library: how it is opened, asked, and ended. Here is all that ctypes knows."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import threading
from pathlib import Path
from typing import Any, Callable, List, Optional, Sequence

ABI = 5  # of the functions that are called here
NAME = "_libroundoff.so"

_OK, _ARGUMENT, _FAILED, _CANCELLED = range(4)

# A call of so many products or elements may take so long that somebody presses Ctrl-C.
LONG = 1 << 22


class Error(RuntimeError):
    """What no other argument would have avoided: a file that cannot be read, or a mistake of the library."""


class Matrix(ctypes.Structure):
    """roundoff_matrix of roundoff.h."""

    _fields_ = [
        ("format", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
        ("columns", ctypes.c_int64),
        ("row_stride", ctypes.c_int64),
        ("column_stride", ctypes.c_int64),
    ]


# Names of functions that are asked nothing, and of those that can be cancelled.
_UNASKED = ("version", "devices", "formats")
_CANCEL = ("gemm", "dot", "exact", "audit", "sweep", "infer")
_MATRICES = {
    "gemm": 4, "dot": 6, "trace": 2, "round": 2, "quantise": 4, "exact": 4,
    "threads": 0, "bound": 2, "advise": 2, "predict": 2, "tolerance": 7, "audit": 2, "sweep": 0, "join": 0, "infer": 0,
}  # fmt: skip

# roundoff_box of roundoff.h: the context, x, y, scale_x, scale_y, c and d.
_BOX = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.POINTER(Matrix)] * 6)

_lock = threading.Lock()
_library: Optional[ctypes.CDLL] = None
_opened_by: Optional[int] = None  # the process, from before it opens the library


def _after_fork() -> None:
    global _lock, _worker
    _lock, _worker = threading.Lock(), None  # another thread of the parent may have had it, and no thread is left


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def library() -> ctypes.CDLL:
    """Returns the library, which the first call opens: it starts threads, and importing a package should not.

    Raises RuntimeError in a child that was forked from a process that had opened it. The threads of the library are
    not there, and a call would wait for them for ever.
    """
    global _library, _opened_by
    if _opened_by is not None and _opened_by != os.getpid():
        raise RuntimeError(
            f"roundoff was used in process {_opened_by}, of which this process {os.getpid()} is a fork, and cannot be used here: "
            'start processes by multiprocessing.get_context("spawn") or "forkserver", or use roundoff in the child alone'
        )
    if _library is not None:
        return _library
    with _lock:
        if _library is None:
            _opened_by = os.getpid()
            try:
                _library = _open(Path(__file__).with_name(NAME))
            except OSError as e:  # nothing was opened
                _opened_by = None
                raise ImportError(f"roundoff's library cannot be opened: {e}") from e
    return _library


def _open(path: Path) -> ctypes.CDLL:
    opened = ctypes.CDLL(str(path))  # which releases the interpreter's lock during calls
    pointer, text = ctypes.POINTER(Matrix), ctypes.POINTER(ctypes.c_void_p)
    for name in _UNASKED:
        function = getattr(opened, "roundoff_" + name)
        function.restype, function.argtypes = ctypes.c_int, [text]
    for name, count in _MATRICES.items():
        function = getattr(opened, "roundoff_" + name)
        box = [_BOX, ctypes.c_void_p] if name == "infer" else []
        cancel = [ctypes.POINTER(ctypes.c_int32)] if name in _CANCEL else []
        function.restype, function.argtypes = ctypes.c_int, [ctypes.c_char_p, *[pointer] * count, *box, *cancel, text]
    opened.roundoff_free.restype, opened.roundoff_free.argtypes = None, [ctypes.c_void_p]
    answer = ctypes.c_void_p()
    opened.roundoff_version(ctypes.byref(answer))
    found = json.loads(_taken(opened, answer))["abi"]
    if found != ABI:
        raise ImportError(f"{path} has the functions of version {found}, want {ABI}")
    return opened


def _taken(opened: ctypes.CDLL, answer: ctypes.c_void_p) -> bytes:
    """Returns the text of an answer, and frees it."""
    try:
        return ctypes.string_at(answer.value or 0) if answer.value else b""
    finally:
        opened.roundoff_free(answer)


def ask(
    name: str,
    question: Optional[dict] = None,
    matrices: Sequence[Optional[Matrix]] = (),
    work: int = LONG,
    keep: Any = None,
    cancel: Optional[ctypes.c_int32] = None,
    read: Callable[[bytes], Any] = json.loads,
    box: Optional[Box] = None,
) -> Any:
    """Calls roundoff_name and returns its answer, which read reads. work is how many products it computes, about; keep is
    what owns the memory of the matrices, which must not go while the call runs, though the caller be interrupted. Who
    sets cancel to 1 ends the call, which then raises KeyboardInterrupt. A box is asked by this thread, and what it raises is
    raised here."""
    opened = library()
    function = getattr(opened, "roundoff_" + name)
    arguments: list = []
    if name not in _UNASKED:
        text = json.dumps({k: v for k, v in (question or {}).items() if v is not None})
        arguments.append(text.encode())
    arguments += [None if m is None else ctypes.byref(m) for m in matrices]
    turns = None
    if box is not None:
        turns = _Turns(box)
        arguments += [_BOX(turns.ask), None]
    if cancel is None:
        cancel = ctypes.c_int32(0)
    if name in _CANCEL:
        arguments.append(ctypes.byref(cancel))

    def run(keep: Any = (keep, matrices)) -> tuple[int, bytes]:
        answer = ctypes.c_void_p()
        code = function(*arguments, ctypes.byref(answer))
        return code, _taken(opened, answer)

    # Python runs what a signal calls in the main thread alone, between two steps of it: a long call has to be elsewhere.
    if turns is not None or work >= LONG and threading.current_thread() is threading.main_thread():
        code, said = _interruptibly(run, cancel, turns or _Turns())
    else:
        code, said = run()
    if code == _OK:
        return read(said)
    said = said.decode("utf-8", "replace")
    if code == _ARGUMENT:
        raise ValueError(said)
    if code == _CANCELLED:
        raise KeyboardInterrupt
    raise Error(said)


# What the library has in a box: of x, y, scale_x, scale_y and c the bytes, None for what there is not, to those of d.
Box = Callable[[List[Optional[bytes]]], bytes]


class _Turns:
    """What the thread that calls and the one that computes for it tell each other. The library asks the box in the latter,
    and the former answers: so the box runs where its owner called, and can be interrupted there."""

    def __init__(self, answer: Optional[Box] = None) -> None:
        self.answer = answer
        self.asked: queue.SimpleQueue = queue.SimpleQueue()  # questions, and None when the call has ended
        self.answered: queue.SimpleQueue = queue.SimpleQueue()  # results, and None when there are to be no more

    def ask(self, context: Any, *matrices: Any) -> int:
        """Is what the library calls."""
        *given, d = matrices
        self.asked.put([ctypes.string_at(m.contents.data, m.contents.rows * m.contents.row_stride) if m else None for m in given])
        result = self.answered.get()
        if result is None:
            return 1
        ctypes.memmove(d.contents.data, result, d.contents.rows * d.contents.row_stride)
        return 0

    def take(self) -> None:
        """Answers what the box is asked until the call has ended."""
        while True:
            try:
                question = self.asked.get(timeout=0.2)  # seconds after which signals are looked for
            except queue.Empty:
                continue
            if question is None:
                return
            self.answered.put(self.answer(question))  # type: ignore[misc]


class _Worker(threading.Thread):
    """A thread that computes one call after the other for the main thread, or one for another. The main thread keeps it
    between calls: the library takes a millisecond to know a new thread."""

    def __init__(self) -> None:
        super().__init__(name="roundoff", daemon=True)
        self.calls: queue.SimpleQueue = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        while (call := self.calls.get()) is not None:
            run, results, turns = call
            try:
                results.append((run(), None))
            except BaseException as e:  # noqa: BLE001: it is raised where it belongs
                results.append((None, e))
            turns.asked.put(None)
            del call, run, results, turns  # and with them the arrays


_worker: Optional[_Worker] = None  # which is idle, unless a call of the main thread runs


def _interruptibly(run: Any, cancel: ctypes.c_int32, turns: _Turns) -> Any:
    """Returns run(), computed by another thread, so that this one can answer for a box, and the main thread can raise
    KeyboardInterrupt or what a handler of a signal raises. The call is then cancelled, and waited for, for half a second at
    most."""
    global _worker
    worker, main = None, threading.current_thread() is threading.main_thread()
    if main:
        worker, _worker = _worker, None  # a box or handler that calls the library itself gets another one
    worker = worker or _Worker()
    results: list = []
    worker.calls.put((run, results, turns))
    try:
        turns.take()
    except BaseException:
        cancel.value = 1
        turns.answered.put(None)
        worker.calls.put(None)  # it ends when the call does
        worker.join(0.5)
        raise
    if main and _worker is None:
        _worker = worker
    else:
        worker.calls.put(None)
    result, error = results[0]
    if error is not None:
        raise error
    return result
