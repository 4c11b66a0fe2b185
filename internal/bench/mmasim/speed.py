"""Answers questions for the speed of MMA-Sim (Xie et al. 2025) on one thread.

It prints the version of MMA-Sim, and then, for every line of its input, "device
m k n", the speed in million multiply-adds per second of an m x k by k x n product
of uniform random numbers, by the time of the processor: the best of runs that
take half a second in all. A device that it does not know gets 0. What it needs:
pip install mmasim.
"""

import sys
import time
from importlib import metadata

import torch
from mmasim.amd import sim as amd
from mmasim.nv_ptx import sim as nvidia

HALF, FLOAT, FP8 = torch.float16, torch.float32, torch.float8_e4m3fn

# The instruction of a device, the type of its factors, the elements that one scale covers.
DEVICES = {
    "volta-mma-binary16-binary32": (lambda: nvidia.MMA("Volta", "m8n8k4.f32.f16.f16.f32"), HALF, 0),
    "ampere-mma-binary16-binary32": (lambda: nvidia.MMA("Ampere", "m16n8k16.f32.f16.f16.f32"), HALF, 0),
    "hopper-wgmma-binary16-binary32": (lambda: nvidia.WGMMA("Hopper", "m64n64k16.f32.f16.f16"), HALF, 0),
    "hopper-wgmma-e4m3-binary32": (lambda: nvidia.WGMMA("Hopper", "m64n64k32.f32.e4m3.e4m3"), FP8, 0),
    "blackwell-tcgen05-e4m3-binary32": (
        lambda: nvidia.TCGen05MMA("Blackwell", "m64n64k32.kind::f8f6f4.f32.e4m3.e4m3"), FP8, 0),
    "blackwell-tcgen05-f4ue4m3x16-binary32": (
        lambda: nvidia.TCGen05MMABlockScale("Blackwell", "m128n64k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
        None, 16),
    "cdna2-mfma-binary16-binary32": (lambda: amd.MFMA("CDNA2", "f32_16x16x16f16"), HALF, 0),
    "cdna3-mfma-binary16-binary32": (lambda: amd.MFMA("CDNA3", "f32_16x16x16_f16"), HALF, 0),
}


def speed(device, m, k, n):
    instruction, factor, block = DEVICES[device]
    multiply = instruction()
    torch.manual_seed(1)

    def factors(rows, columns):
        if factor is None:  # codes of e2m1, two in a byte
            return torch.randint(0, 256, (rows, columns), dtype=torch.uint8)
        return (2 * torch.rand(rows, columns) - 1).to(factor)

    bytes_of_k = k // 2 if factor is None else k
    operands = [factors(m, bytes_of_k), factors(bytes_of_k, n), torch.zeros(m, n)]
    if block:
        operands += [torch.ones(m, k // block).to(FP8), torch.ones(k // block, n).to(FP8)]
    best, total = float("inf"), 0.0
    while total < 0.5:
        start = time.process_time()
        multiply(*operands)
        seconds = time.process_time() - start
        best, total = min(best, seconds), total + seconds
    return 1e-6 * m * k * n / best


def main():
    torch.set_num_threads(1)
    print(metadata.version("mmasim"), flush=True)
    for line in sys.stdin:
        device, *shape = line.split()
        print(speed(device, *map(int, shape)) if device in DEVICES else 0, flush=True)


if __name__ == "__main__":
    main()
