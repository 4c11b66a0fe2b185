"""Convolutions as products of matrices: patches of the activations by filters, a product for each group of channels."""

from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np


def patches(x: np.ndarray, kernel: Sequence[int], pads: List[int], strides: List[int], dilations: List[int], groups: int) -> np.ndarray:
    """Returns what of x, of the shape (images, channels, ...), lies below each place of a kernel: matrices (groups, places of
    all images, channels of a group times elements of the kernel). pads are how many zeros stand before each axis, and then
    how many after each."""
    rank = len(kernel)
    padded = np.pad(x, [(0, 0), (0, 0), *((pads[i], pads[rank + i]) for i in range(rank))])
    window = tuple((n - 1) * d + 1 for n, d in zip(kernel, dilations))
    views = np.lib.stride_tricks.sliding_window_view(padded, window, axis=tuple(range(2, 2 + rank)))
    views = views[(slice(None), slice(None), *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilations))]
    count = int(np.prod(views.shape[2 : 2 + rank]))
    views = views.reshape(len(x), groups, x.shape[1] // groups, *views.shape[2:])
    axes = (1, 0, *range(3, 3 + rank), 2, *range(3 + rank, 3 + 2 * rank))  # groups, images, places, channels, kernel
    return views.transpose(axes).reshape(groups, len(x) * count, -1)


def filters(w: np.ndarray, groups: int) -> np.ndarray:
    """Returns filters w, of the shape (filters, channels of a group, ...), as matrices of a column each."""
    return w.reshape(groups, w.shape[0] // groups, -1).transpose(0, 2, 1)


def places(d: np.ndarray, shape: Sequence[int], kernel: Sequence[int], pads: List[int], strides: List[int], dilations: List[int]) -> np.ndarray:
    """Returns the products of patches and filters, for x of a shape, as images (images, filters, ...)."""
    rank = len(kernel)
    room = [shape[2 + i] + pads[i] + pads[rank + i] - (kernel[i] - 1) * dilations[i] - 1 for i in range(rank)]
    found: Tuple[int, ...] = tuple(r // s + 1 for r, s in zip(room, strides))
    images = d.reshape(len(d), shape[0], *found, d.shape[2])
    axes = (1, 0, 2 + rank, *range(2, 2 + rank))
    return images.transpose(axes).reshape(shape[0], -1, *found)
