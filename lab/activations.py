"""Runs a network with onnxruntime and writes, for roundoff audit -activations, the left factors of its products.

    activations.py MODEL.onnx AUDIT.json INPUTS.npz FOLDER

AUDIT.json is what roundoff audit -json MODEL.onnx says, INPUTS.npz an array for each input of the network. Products within
branches and loops, and those of convolutions of several groups, are left out. Needs what activations.txt names."""

import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

MOST = 4096  # rows of a factor; more are thinned out evenly


def rows(x, window):
    """The rows that a product multiplies: of a convolution, all channels below the kernel (im2col)."""
    if window is None:
        return x.reshape(-1, x.shape[-1])
    rank = len(window["kernel"])
    pads, strides, dilations = window["pads"] or [0] * 2 * rank, window["strides"] or [1] * rank, window["dilations"] or [1] * rank
    if window["auto_pad"] not in ("", "NOTSET", "VALID"):
        raise SystemExit(f"auto_pad {window['auto_pad']} is not known")
    x = np.pad(x, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:])])
    spans = [(k - 1) * d + 1 for k, d in zip(window["kernel"], dilations)]
    x = np.lib.stride_tricks.sliding_window_view(x, spans, axis=tuple(range(2, 2 + rank)))
    x = x[(slice(None), slice(None), *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilations))]
    return np.moveaxis(x, 1, 1 + rank).reshape(-1, x.shape[1] * int(np.prod(window["kernel"])))


def main(model, audit, inputs, folder):
    with open(audit, encoding="utf-8") as file:
        products = [p for p in json.load(file)["products"] if p["input"] and p["groups"] == 1]
    network = onnx.load(model)
    made = {o for n in network.graph.node for o in n.output}
    given = {i.name for i in network.graph.input}
    wanted = sorted({p["input"] for p in products} & (made - {o.name for o in network.graph.output}))
    network.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    session = onnxruntime.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = dict(np.load(inputs))
    names = [o.name for o in session.get_outputs()]
    found = {**feed, **dict(zip(names, session.run(names, feed)))}
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for p in products:
        if p["input"] not in made | given:
            print(f"{p['name']}: left out, its input {p['input']} is not in the main graph")
            continue
        a = rows(np.asarray(found[p["input"]], np.float32), p.get("window"))
        a = a[np.linspace(0, len(a) - 1, min(MOST, len(a))).astype(int)]
        np.save(pathlib.Path(folder, p["file"]), a)
        print(f"{p['file']}: {a.shape[0]} x {a.shape[1]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
