"""Compares roundoff quantise with formats and block formats of others: ml_dtypes rounds, NumPy computes in binary32
in the order of each library, and gfloat quantises blocks of MX formats by itself.

    quantise_test.py ROUNDOFF
"""

import pathlib
import subprocess
import sys
import tempfile

import gfloat
import gfloat.formats
import ml_dtypes
import numpy as np

f32, e4m3, e5m2, e2m1 = np.float32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn
types = {"e4m3": e4m3, "e5m2": e5m2, "e2m1": e2m1, "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn}
np.seterr(all="ignore")


def blocks(x, rows, cols):
    """The blocks of x, each with its place."""
    for i in range(0, x.shape[0], rows or x.shape[0]):
        for j in range(0, x.shape[1], cols or x.shape[1]):
            at = np.s_[i:i + (rows or x.shape[0]), j:j + (cols or x.shape[1])]
            yield at, x[at]


def power_up(s):
    """The least power of two that is not less than s, by bits."""
    bits = f32(s).view(np.uint32)
    return ((bits >> 23) + ((bits & 0x7FFFFF) != 0)).astype(np.uint32).__lshift__(23).view(f32)


def clip(x, t):
    greatest = f32(ml_dtypes.finfo(t).max)
    return np.clip(x, -greatest, greatest).astype(t)


def tile(rows, cols, t, code):
    """A recipe whose blocks are quantised one by one: code(x, amax) returns codes and the scale."""
    def quantise(x):
        codes, scales = np.zeros(x.shape, t), []
        for at, block in blocks(x, rows, cols):
            codes[at], scale = code(block, f32(np.abs(block).max()))
            scales.append(scale)
        return codes, scales
    return quantise


def deepseek(x, amax):
    s = max(amax, f32(1e-4)) / f32(448)
    return clip(x / s, e4m3), s


def deepgemm(x, amax):
    s = max(amax, f32(1e-4)) / f32(448)
    return clip(x * (f32(1) / s), e4m3), s


def deepgemm_power(x, amax):
    s = power_up(max(amax, f32(1e-4)) / f32(448))
    return clip(x * (f32(1) / s), e4m3), s


def te(t):
    def code(x, amax):
        s = f32(ml_dtypes.finfo(t).max) / amax
        return clip(x * s, t), s
    return code


def te_power(x, amax):
    s = ((f32(448) / amax).view(np.uint32) & np.uint32(0x7F800000)).view(f32)
    return clip(x * s, e4m3), s


def torchao(x, amax):
    s = f32(448 / max(np.float64(amax), 1e-12))
    return clip(x * s, e4m3), s


def int8(x, amax):
    s = amax / f32(127)
    return np.clip(np.rint(x / s), -127, 127).astype(np.int8), s


def mx(t, exponent):
    def code(x, amax):
        e = int(np.clip(exponent(amax), -127, 127))
        return clip((x.astype(np.float64) * 2.0**-e).astype(f32), t), f32(2.0**e)
    return code


def floor(emax):
    return lambda amax: int(amax.view(np.uint32) >> 23) - 127 - emax


def ceil(emax):
    return lambda amax: floor(emax)(amax) + int((amax.view(np.uint32) & 0x7FFFFF) != 0)


def even(emax, mantissa):
    return lambda amax: floor(emax)((amax.view(np.uint32) + np.uint32(1 << (22 - mantissa))).view(f32))


def rceil(greatest):
    return lambda amax: int(power_up(amax * (f32(1) / f32(greatest))).view(np.uint32) >> 23) - 127


def microxcaling(t):
    """gfloat's blocks: the scale by a logarithm, here in binary64, and ties away from zero."""
    formats = {"e4m3": gfloat.formats.format_info_ocp_e4m3, "e2m1": gfloat.formats.format_info_ocp_e2m1,
               "e2m3": gfloat.formats.format_info_ocp_e2m3, "e3m2": gfloat.formats.format_info_ocp_e3m2,
               "e5m2": gfloat.formats.format_info_ocp_e5m2}
    info = gfloat.BlockFormatInfo(t, formats[t], 32, gfloat.formats.format_info_ocp_e8m0)

    def quantise(x):
        values = np.zeros(x.shape)
        for at, block in blocks(x, 1, 32):
            values[at] = gfloat.quantize_block(info, block[0].astype(np.float64), gfloat.compute_scale_amax, gfloat.RoundMode.TiesToAway)
        return values
    return quantise


def nvfp4_te(x):
    tensor = f32(2688) / f32(np.abs(x).max())

    def code(block, amax):
        s = clip(amax * (tensor * (f32(1) / f32(6))), e4m3).astype(f32)
        inverse = np.minimum(f32(1) / (s * (f32(1) / tensor)), np.finfo(f32).max)
        return clip(block * inverse, e2m1), s
    codes, scales = tile(1, 16, e2m1, code)(x)
    return codes, scales + [tensor] * (x.shape[1] // 16)


def nvfp4_torchao(x):
    tensor = f32(np.abs(x).max()) / f32(2688)

    def code(block, amax):
        s = np.clip((amax / f32(6)) / tensor, f32(2**-6), f32(448)).astype(e4m3).astype(f32)
        return clip(block * ((f32(1) / tensor) / s), e2m1), s
    codes, scales = tile(1, 16, e2m1, code)(x)
    return codes, scales + [tensor] * (x.shape[1] // 16)


recipes = {
    "deepseek-1x128": tile(1, 128, e4m3, deepseek), "deepgemm-128x128": tile(128, 128, e4m3, deepgemm),
    "deepgemm-1x128-ue8m0": tile(1, 128, e4m3, deepgemm_power), "te-e4m3-tensor": tile(0, 0, e4m3, te(e4m3)),
    "te-e5m2-1x128": tile(1, 128, e5m2, te(e5m2)), "te-e4m3-128x128-power": tile(128, 128, e4m3, te_power),
    "torchao-e4m3-row": tile(1, 0, e4m3, torchao), "int8-row": tile(1, 0, np.int8, int8),
    "nvfp4-te-1x16": nvfp4_te, "nvfp4-torchao": nvfp4_torchao,
}
for name, emax, mantissa, greatest in ("e4m3", 8, 3, 448), ("e5m2", 15, 2, 57344), ("e2m3", 2, 3, 7.5), ("e3m2", 4, 2, 28), ("e2m1", 2, 1, 6):
    for scale, exponent in ("floor", floor(emax)), ("ceil", ceil(emax)), ("even", even(emax, mantissa)), ("rceil", rceil(greatest)):
        recipes[f"mx{name}-{scale}"] = tile(1, 32, types[name], mx(types[name], exponent))

random = np.random.default_rng(15)
normal = random.standard_normal((256, 512)).astype(f32)
data = {
    "binary32": normal, "bfloat16": normal.astype(ml_dtypes.bfloat16).astype(f32),
    "wide": (normal * np.exp2(random.integers(-60, 20, normal.shape))).astype(f32),
}


def quantised(program, folder, recipe, x, *files):
    """The files that roundoff quantise writes for x."""
    np.save(folder / "x.npy", x)
    flags = [word for file in files for word in (f"-{file}", folder / f"{file}.npy")]
    subprocess.run([program, "quantise", "-recipe", recipe, *flags, folder / "x.npy"], check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"{file}.npy") for file in files]


def main(program):
    numbers = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for recipe, quantise in recipes.items():
            for kind, x in data.items():
                codes, scales = quantised(program, folder, recipe, x, "codes", "scales")
                want, want_scales = quantise(x)
                assert np.array_equal(scales.ravel(), np.array(want_scales, np.float64)), f"{recipe}, {kind}: other scales"
                differ = np.flatnonzero(codes.view(np.uint8).ravel() != want.view(np.uint8).ravel())
                assert differ.size == 0, f"{recipe}, {kind}: {differ.size} codes differ, the first of {x.ravel()[differ[0]]}"
                numbers += x.size
        for element in types:
            x = data["bfloat16"][:16]
            values, = quantised(program, folder, f"microxcaling-mx{element}", x, "values")
            assert np.array_equal(values, microxcaling(element)(x)), f"microxcaling-mx{element}: other numbers than gfloat's"
            numbers += x.size
        for element, t in {**types, "bfloat16": ml_dtypes.bfloat16}.items():
            x = clip(data["binary32"][:16, :64], t)
            np.save(folder / "a.npy", x)
            np.save(folder / "b.npy", np.eye(64, dtype=f32))
            subprocess.run([program, "gemm", "-device", "blackwell", "-in", element, folder / "a.npy", folder / "b.npy",
                            "-o", folder / "d.npy"], check=True)
            assert np.array_equal(np.load(folder / "d.npy"), x.astype(f32)), f"codes of {element} are read as other numbers"
    print(f"{len(recipes) + len(types)} recipes, {numbers} numbers: the codes and scales of ml_dtypes {ml_dtypes.__version__}, "
          f"NumPy {np.__version__} and gfloat")


if __name__ == "__main__":
    main(sys.argv[1])
