#!/bin/sh
# Builds .venv, sees that Jupyter finds the Go kernel, and runs a notebook in it: the first one, or
# the one named. Exits with 75, like install.sh, when there can be no .venv on this machine.
set -eu
cd "$(dirname "$0")/.."
lab/install.sh
. lab/env.sh
.venv/bin/python - "${1:-$(ls notebooks/*.ipynb | head -n 1)}" <<'END'
import os, subprocess, sys
import nbclient, nbformat
from jupyter_client.kernelspec import KernelSpecManager

spec = KernelSpecManager().get_kernel_spec("gonb")
print("lab: kernel", spec.display_name, "in", os.path.relpath(spec.resource_dir))
path = sys.argv[1]
notebook = nbformat.read(path, as_version=4)
folder = {"metadata": {"path": os.path.dirname(os.path.abspath(path))}}
client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="gonb", resources=folder)
try:
    client.execute(stderr=subprocess.DEVNULL)  # the kernel's log
except nbclient.exceptions.CellExecutionError as e:
    sys.exit(f"lab: {path} failed\n{e}")
cells = [c for c in notebook.cells if c.cell_type == "code"]
assert any(c.outputs for c in cells), "no cell showed anything"
print("lab:", path, "ran,", len(cells), "cells")
END
