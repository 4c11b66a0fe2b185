"""Runs the cells of a submission, inside the sandbox: reads a JSON list of sources, writes one of outputs.

    python execute.py SECONDS

A cell that has not ended after so many seconds is interrupted. Nothing that comes out of here is believed.
"""

import asyncio
import json
import os
import sys

import nbclient
import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError


def main(seconds):
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the kernel writes
    sources = json.load(sys.stdin)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    client = nbclient.NotebookClient(notebook, kernel_name="gonb", timeout=seconds, startup_timeout=120,
                                     interrupt_on_timeout=True, allow_errors=True)
    try:
        client.execute()
    except (CellTimeoutError, DeadKernelError, RuntimeError, asyncio.CancelledError) as e:
        print(f"execute: {type(e).__name__}: {e}", file=sys.stderr)
    json.dump([cell.outputs for cell in notebook.cells], answer)
    answer.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
