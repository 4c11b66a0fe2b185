"""Published outputs of chips and of models of them: the files that `roundoff vectors check` reads, by dot."""

import gzip
import json
import os
import unittest
from pathlib import Path

import ml_dtypes
import numpy as np

import roundoff
from support import Test

FOLDER = Path(os.environ.get("VECTORS", ""))

# The formats of files: our names, the dtypes of codes, and bytes of one.
FORMATS = {
    "fp64": ("binary64", np.float64), "fp32": ("binary32", np.float32), "tf32": ("tf32", np.float32), "fp16": ("binary16", np.float16),
    "bf16": ("bfloat16", ml_dtypes.bfloat16), "e5m2": ("e5m2", ml_dtypes.float8_e5m2), "e4m3": ("e4m3", ml_dtypes.float8_e4m3fn),
    "e5m2fnuz": ("e5m2fnuz", ml_dtypes.float8_e5m2fnuz), "e4m3fnuz": ("e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    "e3m2": ("e3m2", ml_dtypes.float6_e3m2fn), "e2m3": ("e2m3", ml_dtypes.float6_e2m3fn), "e2m1": ("e2m1", ml_dtypes.float4_e2m1fn),
    "ue8m0": ("e8m0", np.uint8), "ue4m3": ("ue4m3", np.uint8), "int8": ("int8", np.int8), "uint8": ("uint8", np.uint8), "int32": ("int32", np.int32),
}  # fmt: skip

CHIPS = {"V100": "volta", "T4": "turing", "A100": "ampere", "A2": "ampere", "A30": "ampere", "A10": "ampere", "L40S": "ada", "Ada Lovelace": "ada",
         "H100": "hopper", "H200": "hopper", "B200": "blackwell"}  # fmt: skip

# Instructions of processors, the longer names first.
PROCESSORS = ["tdpbf16ps", "vdpbf16ps", "vfmadd231ph", "tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud", "bfdot-ebf", "bfmmla-ebf", "bfmopa-ebf", "bfdot",
              "bfmmla", "bfmopa", "fmopa", "fdot", "fmmla"]  # fmt: skip


def family(h):
    """Returns the family of instructions that a header names, "" if its chip has only one."""
    text = " ".join([h["name"], h.get("instr", ""), h.get("via", "")]).lower()
    for word in [*PROCESSORS, "wgmma", "tcgen05"]:
        if word in text:
            return word
    if "mma.sync" in text or "_mma_" in text or h.get("kind") == "silicon" and h["arch"] in ("H100", "H200", "B200"):
        return "mma"
    return ""


def units(h):
    """Returns the devices that a header can mean: two block-scaled ones can differ in their arithmetic alone."""
    arch = CHIPS.get(h["arch"], h["arch"].lower().replace(" ", ""))
    found = []
    for d in roundoff.devices():
        if d.architecture.lower().replace(" ", "") != arch or d.a != FORMATS[h["a"]][0] or d.c != FORMATS[h["c"]][0]:
            continue
        if h.get("nscale"):
            fits = d.scale == FORMATS[h["scale"]][0] and d.scale_block == h["block"]
        elif arch == "cdna2":
            fits = d.instruction.endswith("_1k") == ("_1k" in h["name"] + h.get("instr", "")) or d.a != "bfloat16"
        else:
            fits = d.scale is None and family(h) in ("", d.instruction.split(".")[0])
        if fits:
            found.append(d)
    return found


def elements(raw, form):
    """Returns the columns of codes as an array of their dtype."""
    name, kind = FORMATS[form]
    kind = np.dtype(kind)
    if name == "e2m1":  # two to a byte, the first in the low half
        raw = np.stack([raw & 15, raw >> 4], -1).reshape(len(raw), -1)
    return np.ascontiguousarray(raw).view(kind)


@unittest.skipUnless(FOLDER.is_dir() and os.environ.get("VECTORS"), "there are no vectors: VECTORS names their folder")
class Vectors(Test):
    def test_all(self):
        rows = files = 0
        for path in sorted(FOLDER.rglob("*.tcv.gz")):
            with self.subTest(path.name):
                rows += self.check(path)
                files += 1
        self.assertGreater(rows, 100_000)
        print(f"{rows} sums of {files} files of vectors")

    def check(self, path):
        with gzip.open(path) as f:
            h = json.loads(f.readline())
            table = np.frombuffer(f.read(), np.uint8).reshape(h["count"], h["rowbytes"])
        size = lambda form: np.dtype(FORMATS[form][1]).itemsize
        at, parts = 2, {}
        for part, form in (("a", h["a"]), ("b", h["b"])):
            n = -(-h["K"] // 2) if form == "e2m1" else h["K"] * size(form)
            parts[part] = elements(table[:, at : at + n], form)[:, : h["K"]]
            at += n
        scales = {}
        if h.get("nscale"):
            for part in ("scale_x", "scale_y"):
                scales[part] = np.ascontiguousarray(table[:, at : at + h["nscale"]])
                at += h["nscale"]
        for part, form in (("c", h["c"]), ("d", h["d"])):
            parts[part] = elements(table[:, at : at + size(form)], form)[:, 0]
            at += size(form)
        for part in "ab":
            if h[part] == "tf32":  # instructions ignore the low bits of the words
                parts[part] = (parts[part].view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
        graded = np.flatnonzero((table[:, 0] & 3 == 0) | (h.get("kind") == "silicon"))
        want = parts["d"][graded]
        found = units(h)
        self.assertTrue(found, f"no device for {h}")
        wrong = []
        for d in found:
            out = np.empty(h["count"], FORMATS[h["c"]][1])
            roundoff.dot(parts["a"], parts["b"], d.name, in_=(FORMATS[h["a"]][0], FORMATS[h["b"]][0]), c=parts["c"], out=out, **scales)
            got = out[graded]
            same = got.view(np.uint8).reshape(len(got), -1) == want.view(np.uint8).reshape(len(want), -1)
            nan = np.isnan(got.astype(np.float64)) & np.isnan(want.astype(np.float64))
            wrong.append(int(np.sum(~(same.all(1) | nan))))
        # Where a header fits two devices, one has to be right.
        self.assertEqual(min(wrong), 0, f"{h['name']}: {dict(zip([d.name for d in found], wrong))} of {len(graded)}")
        return len(graded)
