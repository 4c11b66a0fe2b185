"""The plug-in for pytest, which finds it by the entry point pytest11. Nothing else here imports pytest."""

from __future__ import annotations

from typing import Any, Callable

import pytest  # type: ignore[import-not-found, unused-ignore]


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("roundoff", "tolerances of matrix products")
    group.addoption("--roundoff-device", default="hopper", metavar="NAME", help="the device whose tolerances roundoff_close takes (default: %(default)s)")
    group.addoption(
        "--roundoff-confidence",
        default="1-1e-6",
        metavar="P",
        help="the probability that a sound product passes, or always, for bounds that assume nothing of the data (default: %(default)s)",
    )


@pytest.fixture
def roundoff_close(request: Any) -> Callable[..., None]:
    """Asserts that outputs are within their tolerance: roundoff_close(got, a, b, ...), roundoff.testing.assert_close for
    the device and the confidence of the command line, which arguments override."""
    from roundoff.testing import assert_close

    def close(got: Any, a: Any, b: Any, device: str = request.config.getoption("--roundoff-device"), **options: Any) -> None:
        __tracebackhide__ = True
        options.setdefault("confidence", request.config.getoption("--roundoff-confidence"))
        assert_close(got, a, b, device, **options)

    return close
