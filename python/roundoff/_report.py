"""What ran on an emulated device, and what did not."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Tuple

from ._records import Rows


@dataclass(frozen=True)
class Product:
    """Products of one kind that ran: calls calls of an operation of a framework, each of batch products of the shapes
    (m, k) and (k, n), of elements of these dtypes, together so many multiply_adds."""

    framework: str
    operation: str
    batch: int
    m: int
    k: int
    n: int
    dtypes: str
    calls: int
    multiply_adds: int


class Run:
    """What an emulation did: `products`, in the order in which they first ran; `left`, what was left exact, with how often; and
    `notes`, what else one has to know. Threads may add to it. str() is a report."""

    def __init__(self, machine: str) -> None:
        self.machine = machine
        self._lock = threading.Lock()
        self._calls: Dict[Tuple[Any, ...], int] = {}
        self._left: Counter = Counter()
        self._notes: Dict[str, None] = {}

    def add(self, framework: str, operation: str, a: Sequence[int], b: Sequence[int], dtypes: Sequence[str]) -> None:
        """Counts one call, of products of the shapes a, (batch, m, k), and b, (batch, k, n)."""
        key = (framework, operation, *a, b[2], ",".join(dict.fromkeys(dtypes)))
        with self._lock:
            self._calls[key] = self._calls.get(key, 0) + 1

    def leave(self, framework: str, what: str) -> None:
        """Counts what is left exact."""
        with self._lock:
            self._left[f"{framework} {what}"] += 1

    def note(self, sentence: str) -> None:
        """Adds a note, once."""
        with self._lock:
            self._notes[sentence] = None

    @property
    def products(self) -> Rows[Product]:
        with self._lock:
            calls = list(self._calls.items())
        return Rows(Product(*[*key, count, count * key[2] * key[3] * key[4] * key[5]]) for key, count in calls)

    @property
    def left(self) -> Dict[str, int]:
        with self._lock:
            return dict(self._left)

    @property
    def notes(self) -> List[str]:
        with self._lock:
            return list(self._notes)

    @property
    def multiply_adds(self) -> int:
        return sum(p.multiply_adds for p in self.products)

    def __str__(self) -> str:
        rows = self.products
        lines: List[str] = [f"{self.machine}: {sum(p.calls for p in rows)} calls, {self.multiply_adds} multiply-adds"]
        if not rows:
            lines.append("no product ran on the device")
        table: List[Tuple[str, ...]] = [("product", "batch", "m", "k", "n", "dtypes", "calls", "multiply-adds")]
        table += [(f"{p.framework} {p.operation}", *map(str, (p.batch, p.m, p.k, p.n, p.dtypes, p.calls, p.multiply_adds))) for p in rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines += ["  ".join(c.ljust(w) if i in (0, 5) else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))) for row in table if rows]
        lines += [f"left exact: {what}, {count} times" if count > 1 else f"left exact: {what}" for what, count in self.left.items()]
        lines += [f"note: {sentence}" for sentence in self.notes]
        return "\n".join(lines)

    __repr__ = __str__
