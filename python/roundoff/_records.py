"""What is answered, as records."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Type, TypeVar, Union

import numpy as np

R = TypeVar("R")


class Rows(List[R]):
    """A list of records."""

    def frame(self) -> Any:
        """Returns the records as a frame of pandas, a row each. Raises ImportError where there is no pandas."""
        import pandas  # type: ignore[import-untyped, unused-ignore]

        return pandas.DataFrame([dataclasses.asdict(r) for r in self])  # type: ignore[call-overload]


def record(kind: Type[R], values: dict) -> R:
    """Returns a record of the values that it knows. JSON writes 448.0 as 448."""
    known = {}
    for f in dataclasses.fields(kind):  # type: ignore[arg-type]
        v = values[f.name]
        known[f.name] = float(v) if type(v) is int and "float" in str(f.type) else v
    return kind(**known)


@dataclass(frozen=True)
class Device:
    """A matrix unit: the formats of A, B and C, of its scales, and how many terms it adds at once."""

    name: str
    architecture: str
    instruction: str
    a: str
    b: str
    c: str
    scale: Optional[str]
    scale_block: int
    terms: int


@dataclass(frozen=True)
class Format:
    """A number format: p digits with the implicit one, exponents from emin to emax, u = unit_roundoff."""

    name: str
    bits: int
    bytes: int
    precision: int
    emin: int
    emax: int
    unit_roundoff: float
    max: float


@dataclass(frozen=True)
class Recipe:
    """How a library quantises: blocks of so many elements along K and across it, 0 for all, share a scale."""

    name: str
    element: str
    scale: str
    along: int
    across: int
    tensor: bool
    source: str


@dataclass(frozen=True)
class Bound:
    """|error| <= constant |A||B| + underflow for every output, or <= absolute; with the confidence, 1 for always."""

    bound: str
    constant: Optional[float]
    absolute: Optional[float]
    underflow: Optional[float]
    lambda_: Optional[float]
    confidence: Union[float, str]
    holds: bool
    why: str
    source: str


@dataclass(frozen=True)
class Advice:
    """What a device makes of a tolerance: by which bound it meets it, for which K, and what it costs."""

    device: str
    a: str
    b: str
    recipe: Optional[str]
    accumulate: str
    meets: bool
    excess: Optional[float]
    least_k: int
    largest_k: int
    bound: Optional[str]
    constant: Optional[float]
    parts: Optional[dict]
    promote: int
    split_k: int
    other_recipe: Optional[str]
    absolute: Optional[float]
    underflow: Optional[float]
    confidence: Union[float, str, None]
    why: str
    bytes: float
    bytes_ratio: Optional[float]
    gpu: Optional[str]
    tflops: Optional[float]
    time_ratio: Optional[float]
    source: Optional[str]


@dataclass(frozen=True)
class Prediction:
    """The error to be expected of sums of k products: of sums alone relative to them (mean to backward_deviation), or
    of quantised factors relative to the mean of |A||B| (error to storing). What does not apply is None."""

    k: int
    mean: Optional[float]
    deviation: Optional[float]
    slope: Optional[float]
    backward: Optional[float]
    backward_deviation: Optional[float]
    error: Optional[float]
    quantisation: Optional[float]
    quantisation_drift: Optional[float]
    sums: Optional[float]
    sums_drift: Optional[float]
    storing: Optional[float]


@dataclass(frozen=True, eq=False)
class Quantised:
    """A quantised matrix: codes of the element's format as bytes, scales of blocks as they lie in it, or the inverse ones
    if the recipe stores these, that of the tensor, and the numbers that they stand for. What was lost: the relative root
    mean square, the drift of magnitudes, and how many numbers became 0, were clipped, or are NaN."""

    recipe: str
    element: str
    source: str
    codes: np.ndarray
    scales: np.ndarray
    values: np.ndarray
    tensor: Optional[float]
    rms: Optional[float]
    drift: Optional[float]
    flushed: int
    clipped: int
    nan: int


@dataclass(frozen=True)
class Audited:
    """What a recipe does to a product, and what a device adds: errors over rms(D). device is None where no device takes
    what the recipe makes; why says that there are no errors. Bounds hold always for these matrices."""

    product: str
    recipe: str
    predicted: float
    measured: float
    bound: float
    activations: float
    weights: float
    device: Optional[str]
    promote: Optional[int]
    accumulation: Optional[float]
    accumulation_bound: Optional[float]
    total: Optional[float]
    total_bound: Optional[float]
    overflow: Optional[int]
    why: str


class Audit(Rows[Audited]):
    """The rows of an audit, and as report all of it, the JSON of `roundoff audit -json`."""

    report: dict


@dataclass(frozen=True)
class Trace:
    """How an element is summed. str() is what `roundoff trace` prints; exact is in decimal, with all digits."""

    device: str
    text: str
    result: Optional[float]
    exact: Optional[str]
    error: Optional[float]
    blocks: list
    parts: list

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Asked:
    """A dot product and its result d, as codes. A black box was asked it."""

    x: List[int]
    y: List[int]
    scale_x: List[int]
    scale_y: List[int]
    c: int
    d: int


@dataclass(frozen=True)
class Inferred:
    """How a black box adds. str() is what `roundoff infer` prints.

    It is explained if a record of the grammar gives all of its answers, of questions dot products; agreed of checked random
    ones were asked after the record was found. record is that of the device, as JSON, literal the same in Go, devices are those
    of the catalogue that give the same answers, and tree is the order of the sum. parameters are those of the record, by name,
    and rivals the values of each that the answers do not tell from it, if there are any; vectors are the answers by which all
    others of the tried records were dropped. If it is not explained, closest is a record that gives most answers, and
    counterexample an answer that it does not give.

    Where the order alone was asked for, additions are in the order in which they can be done, each a list of what it adds:
    i < k for a product, -1 for c, and k + i for the result of addition i; the last one is the sum. Of so many random sums,
    checked, agreed have the bits of additions in that order, rounded to nearest, and it is explained if all have; none are
    checked if more than two terms are added at once. What does not apply is None."""

    text: str
    k: int
    explained: bool
    questions: int
    checked: int
    agreed: int
    tried: Optional[int] = None
    record: Optional[dict] = None
    literal: Optional[str] = None
    tree: Optional[str] = None
    parameters: Optional[Dict[str, str]] = None
    rivals: Optional[Dict[str, List[str]]] = None
    devices: Optional[List[str]] = None
    vectors: Optional[List[Asked]] = None
    closest: Optional[dict] = None
    counterexample: Optional[Asked] = None
    additions: Optional[List[List[int]]] = None

    @property
    def order(self) -> Union[list, int, None]:
        """The additions as a tree: a list of what is added, products by number and "c". That of a long chain is too deep to
        be printed."""
        if self.additions is None:
            return None
        sums: list = []
        for terms in self.additions:
            sums.append(["c" if i < 0 else i if i < self.k else sums[i - self.k] for i in terms])
        return sums[-1] if sums else 0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Judged:
    """How a bound did on a machine, for a distribution and a K: outputs, those that exceed it (violations), and products
    with such an output (failed) of runs. tightness is the least over products of the largest |error|/bound, largest and
    median are of all outputs. verdict is "holds" where the bound is claimed, "machine" or "data" where an assumption is
    false; fails says that it is claimed and exceeded more often than stated. Where bound is "error" the row is of the
    errors themselves, over |A||B|, with their moments and what was predicted of them. With a recipe errors are against the
    product before quantisation: quantised is the part that this contributes, accumulated what sums do, and conversion the
    part of the constant that bounds the first. What there is not is None."""

    machine: str
    recipe: str
    data: str
    m: int
    n: int
    k: int
    confidence: float
    per_output: bool
    told: str
    ranges: bool
    represented: bool
    bound: str
    deterministic: bool
    verdict: str
    fails: bool
    seeds: str
    runs: int
    failed: int
    outputs: int
    violations: int
    tightness: Optional[float]
    largest: Optional[float]
    median: Optional[float]
    constant: Optional[float]
    mean: Optional[float]
    spread: Optional[float]
    slope: Optional[float]
    predicted_mean: Optional[float]
    predicted_slope: Optional[float]
    predicted_spread: Optional[float]
    conversion: Optional[float]
    quantised_mean: Optional[float]
    quantised_spread: Optional[float]
    quantised_largest: Optional[float]
    accumulated_mean: Optional[float]
    accumulated_spread: Optional[float]
    accumulated_largest: Optional[float]
    skipped: int
    why: str
