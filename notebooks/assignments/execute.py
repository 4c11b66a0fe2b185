"""Runs the cells of a submission, inside the sandbox: reads a JSON list of sources, writes one of outputs.

    python execute.py KERNEL SECONDS

A cell that has not ended after so many seconds is interrupted; if it is still not over after some more,
its kernel is killed. Nothing that comes out of here is believed.
"""

import asyncio
import json
import os
import signal
import sys
import threading

import nbclient
import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError

grace = 15  # s from an interrupt to the end of a cell


class Patience:
    """Kills the kernel of a client when a cell takes longer than so many seconds."""

    def __init__(self, client, seconds):
        self.client, self.seconds, self.timer = client, seconds, None
        client.on_cell_execute, client.on_cell_executed = self.start, self.stop

    def start(self, **_):
        self.stop()
        self.timer = threading.Timer(self.seconds, self.end)
        self.timer.daemon = True
        self.timer.start()

    def stop(self, **_):
        if self.timer:
            self.timer.cancel()

    def end(self):
        os.kill(self.client.km.provisioner.pid, signal.SIGKILL)


def main(kernel, seconds):
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the kernel writes
    sources = json.load(sys.stdin)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    client = nbclient.NotebookClient(notebook, kernel_name=kernel, timeout=seconds, startup_timeout=120,
                                     interrupt_on_timeout=True, allow_errors=True)
    Patience(client, seconds + grace)
    try:
        client.execute()
    except (CellTimeoutError, DeadKernelError, RuntimeError, asyncio.CancelledError) as e:
        print(f"execute: {type(e).__name__}: {e}", file=sys.stderr)
    json.dump([cell.outputs for cell in notebook.cells], answer)
    answer.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
