"""Runs the notebooks for Python and compares what they show with what is stored in them, or stores it.

    python_notebook.py check|store NOTEBOOK...

Printed text has to be the same; of a figure, that there is one. A notebook has at most 400 kB.
"""

import os
import pathlib
import sys

import nbclient
import nbformat

MOST = 400_000


def joined(outputs):
    """Returns outputs with printed text that follows on printed text in one piece: when it comes is chance."""
    pieces = []
    for o in outputs:
        if pieces and o.output_type == pieces[-1].output_type == "stream" and o.name == pieces[-1].name:
            pieces[-1].text += o.text
        else:
            pieces.append(o)
    return pieces


def shown(cell):
    """Returns what a cell shows: printed text, and for each picture the word figure."""
    parts = []
    for o in cell.outputs:
        if o.output_type == "stream":
            assert o.name == "stdout", f"a cell writes to {o.name}: {o.text}"
            parts.append(o.text)
        else:
            parts.append("figure" if "image/png" in o.data else o.data["text/plain"])
    return parts


def run(path):
    """Returns the notebook as executed by a new kernel, with outputs that have no counts."""
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = joined(cell.outputs)
            for o in cell.outputs:
                if "execution_count" in o:
                    o.execution_count = None
    return notebook


def main(what, *paths):
    wrong = 0
    for path in map(pathlib.Path, paths):
        stored, executed = nbformat.read(path, as_version=4), run(path)
        if what == "store":
            nbformat.write(executed, path)
        else:
            for number, (before, now) in enumerate(zip(stored.cells, executed.cells), 1):
                if before.cell_type == "code" and shown(before) != shown(now):
                    print(f"{path}: cell {number} shows\n{shown(now)}\nand stored in it is\n{shown(before)}")
                    wrong += 1
        figures = sum(shown(c).count("figure") for c in executed.cells if c.cell_type == "code")
        assert figures, f"{path} has no figure"
        size = os.path.getsize(path)
        assert size <= MOST, f"{path} has {size} bytes, want at most {MOST}"
        print(f"{path}: {sum(c.cell_type == 'code' for c in executed.cells)} cells ran, {figures} figures, {size} bytes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
