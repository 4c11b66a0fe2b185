"""Grades one submission: its cells run in a sandbox, and its checks outside, where they ask the functions
of the student over a socket for every check. threats.md says why a mark can be trusted.
"""

import base64
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Integer

import sandbox

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
unreached = "the check was not reached"
patience = 120  # s that a check may take with all its calls; those of pkg/course end themselves after 15, or 45


def go(variable):
    return subprocess.run(["go", "env", variable], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


class Room:
    """What every sandbox is made from: programs, packages, and what Go has compiled."""

    def __init__(self):
        self.bwrap = sandbox.program()
        self.cache = root / "out" / "grading"
        self.examiner = self.cache / "examiner"
        goroot = go("GOROOT")
        venv = pathlib.Path(sys.prefix)
        packages = ("go.mod", "go.sum", "pkg", "internal")
        self.prepare()
        self.shown = {path: path for path in (goroot, go("GOMODCACHE"), sys.base_prefix, venv)}
        self.shown |= {root / name: self.cache / "packages" / name for name in packages}
        self.shown |= {"/compiled": self.cache / "go", "/kernels/kernels/gonb": self.cache / "kernel", "/programs": self.cache / "programs",
                       "/execute.py": here / "execute.py"}
        self.environment = {
            "PATH": f"/programs:{venv}/bin:{goroot}/bin:/usr/bin:/bin", "HOME": "/tmp/home", "LANG": "C.UTF-8",
            "GOCACHE": "/tmp/gocache", "GOMODCACHE": go("GOMODCACHE"), "GOPATH": "/tmp/go", "GOTOOLCHAIN": "local",
            "GOTELEMETRY": "off", "GOENV": "off", "GOPROXY": "off", "GOFLAGS": "-mod=readonly -buildvcs=false -ldflags=-w",  # no tables for debuggers, a third of a link
            "JUPYTER_PATH": "/kernels", "JUPYTER_RUNTIME_DIR": "/tmp/jupyter", "IPYTHONDIR": "/tmp/ipython",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1", "ROUNDOFF_EXAMINATION": "/examination",
            "ROUNDOFF_FIGURES": "png"}

    def prepare(self):
        """Compiles, for sandboxes to begin with, what every cell uses, and the examiner."""
        self.cache.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"GOCACHE": str(self.cache / "go")}
        subprocess.run(["go", "build", "-buildvcs=false", "./pkg/..."], cwd=root, check=True, env=environment)
        subprocess.run(["go", "build", "-buildvcs=false", "-o", self.examiner, "./internal/examine/grader"], cwd=root,
                       check=True, env=environment)
        shutil.rmtree(self.cache / "packages", ignore_errors=True)
        for name in ("pkg", "internal"):  # without tests, which know right answers
            shutil.copytree(root / name, self.cache / "packages" / name, ignore=shutil.ignore_patterns("*_test.go"))
        for name in ("go.mod", "go.sum"):
            shutil.copy(root / name, self.cache / "packages")
        kernel = json.loads((root / "tools" / "kernels" / "gonb" / "kernel.json").read_text())
        kernel["argv"] = ["gonb", "--kernel", "{connection_file}", "--raw_error", f"--go_work={root}"]
        kernel.pop("env", None)
        for folder in ("kernel", "programs"):
            (self.cache / folder).mkdir(exist_ok=True)
        (self.cache / "kernel" / "kernel.json").write_text(json.dumps(kernel))
        for name in ("gonb", "goimports"):
            new = self.cache / f"{name}.new"  # the old one may be running
            shutil.copy(root / ".bin" / name, new)
            new.replace(self.cache / "programs" / name)

    def run(self, kernel, sources, seconds, examination):
        """What the cells with these sources showed in this kernel, a list for each, and why they were ended, or ""."""
        copied = f"exec python /execute.py {kernel} {seconds}"
        if kernel == "gonb":
            copied = f"cp -rs /compiled /tmp/gocache && {copied}"
        line = sandbox.command(self.bwrap, self.shown | {"/examination": examination}, self.environment,
                               ["/bin/sh", "-c", copied])
        output, why = sandbox.run(line, json.dumps(sources).encode(), 60 + 3 * seconds + 10 * len(sources))
        return outputs(output, len(sources)), why


@functools.cache
def room():
    """The room of this process."""
    return Room()


def outputs(said, count):
    """The outputs of so many cells, out of what the sandbox said, of which nothing is believed: text and
    pictures as PNG, nothing that a browser would run."""
    try:
        cells = json.loads(said)
    except (ValueError, RecursionError):
        cells = []
    cells = cells if isinstance(cells, list) else []
    cells = [cell if isinstance(cell, list) else [] for cell in cells[:count]]
    return [[o for o in map(output, cell[:1000]) if o] for cell in cells] + [[]] * (count - len(cells))


def output(said):
    """One output that a notebook may hold, or None."""
    if not isinstance(said, dict):
        return None
    kind = said.get("output_type")
    if kind == "stream":
        return {"output_type": "stream", "name": "stderr" if said.get("name") == "stderr" else "stdout",
                "text": text(said.get("text"))}
    if kind == "error":
        trace = said.get("traceback")
        return {"output_type": "error", "ename": text(said.get("ename")), "evalue": text(said.get("evalue")),
                "traceback": [text(line) for line in trace[:1000]] if isinstance(trace, list) else []}
    if kind in ("display_data", "execute_result"):
        data = said.get("data") if isinstance(said.get("data"), dict) else {}
        kept = {}
        if "text/plain" in data:
            kept["text/plain"] = text(data["text/plain"])
        if "image/png" in data:
            try:
                picture = base64.b64decode(text(data["image/png"]), validate=True)
            except ValueError:
                picture = b""
            if picture.startswith(b"\x89PNG\r\n"):
                kept["image/png"] = base64.b64encode(picture).decode()
        return {"output_type": "display_data", "data": kept, "metadata": {}} if kept else None
    return None


def text(said):
    return said if isinstance(said, str) else "".join(filter(lambda s: isinstance(s, str), said)) if isinstance(said, list) else ""


def checks(source):
    """The check cells of a source notebook: the examiner's part of each, by its name."""
    cells = (c for c in source["cells"] if c["cell_type"] == "code")
    graders = ((c, c["metadata"].get("nbgrader", {})) for c in cells)
    return {g["grade_id"]: "".join(c["source"]) for c, g in graders if g.get("grade")}


def go_answer(name, cell):
    function = re.search(r"course\.Check\w+\((\w+)", cell).group(1)
    return f"%%\ncourse.Answer({json.dumps(name)}, {function})"


def python_answer(name, cell):
    function = re.search(r'course\.check\("\w+", (\w+)', cell).group(1)
    return f"import roundoff.course\nroundoff.course.answer({json.dumps(name)}, {function})"


# What takes the place of a check cell, by the kernel: it lets the function of that name answer.
asking = {"gonb": go_answer, "python3": python_answer}


class Check:
    """A check that waits for the function that it asks."""

    def __init__(self, room, kernel, folder, name, cell):
        self.room, self.cell, self.failure = room, cell, unreached
        self.student = asking[kernel](name, cell)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(folder / name))
        self.socket.listen(1)
        self.thread = threading.Thread(target=self.wait, daemon=True)
        self.thread.start()

    def wait(self):
        try:
            connection, _ = self.socket.accept()
        except OSError:
            return  # closed: nobody came
        self.failure = "the check did not end"
        with connection:
            examiner = subprocess.Popen([self.room.examiner, self.cell], stdin=connection, stdout=connection,
                                        stderr=subprocess.PIPE, env={"GOMEMLIMIT": "512MiB"})
        try:
            _, said = examiner.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            examiner.kill()
            examiner.communicate()
            self.failure = f"the check did not end within {patience} s"
            return
        said = said.decode(errors="replace")
        lines = [line for line in said.splitlines() if line.startswith("panic: ")]
        self.failure = "" if examiner.returncode == 0 else (lines[:1] or [said.strip()[:1000] or "the check failed"])[0]

    def close(self):
        """Ends the waiting, and returns why the check failed, "" if it passed."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        return self.failure


def examine(room, cells, source, seconds=60):
    """Runs the cells, of which those with a name of a check of the source are checks: pairs of a name or
    None, and a source. Returns a list of outputs for each cell, the failures of all checks, "" for one
    that passed, and why the cells were ended, or ""."""
    kernel = source["metadata"]["kernelspec"]["name"]
    with tempfile.TemporaryDirectory(prefix="roundoff-") as folder:
        folder = pathlib.Path(folder)
        waiting = {name: Check(room, kernel, folder, name, cell) for name, cell in checks(source).items()}
        try:
            sources = [waiting[name].student if name in waiting else code for name, code in cells]
            shown, why = room.run(kernel, sources, seconds, folder)
        finally:
            failures = {name: check.close() for name, check in waiting.items()}
    for i, (name, _) in enumerate(cells):
        if name in waiting:
            shown[i] = verdict(failures[name], shown[i], why)
    return shown, failures, why


def verdict(failure, shown, why):
    """The outputs of a check cell: none if it passed, else what failed, after what its cell showed."""
    if not failure:
        return []
    if failure != unreached:
        shown = []
    elif why:
        failure = f"{unreached}, as the notebook was ended: {why}"
    failed = {"output_type": "error", "ename": "Check", "evalue": failure, "traceback": [failure]}
    return [*(o for o in shown if o["output_type"] == "error"), failed]


def asked(notebook, source):
    """The pairs of names and sources that examine takes, of the code cells of a notebook; of checks the
    source does not count."""
    names = checks(source)
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    pairs = [(c["metadata"].get("nbgrader", {}).get("grade_id"), text(c["source"])) for c in cells]
    return [(name, "" if name in names else code) for name, code in pairs]


class Beforehand:
    """Examines submissions beside each other, one more than there are processors, as some only wait, before
    nbgrader asks for what came of them one by one."""

    def __init__(self):
        self.workers = concurrent.futures.ThreadPoolExecutor(os.cpu_count() + 1)
        self.known = {}

    def start(self, notebook, source, seconds):
        cells = asked(notebook, source)
        key = json.dumps(cells)
        if key not in self.known:  # who hands in the same gets the same
            self.known[key] = self.workers.submit(examine, room(), cells, source, seconds)

    def result(self, notebook, source, seconds):
        cells = asked(notebook, source)
        future = self.known.get(json.dumps(cells))
        return future.result() if future else examine(room(), cells, source, seconds)

    def end(self):
        """Ends what still runs."""
        self.workers.shutdown(wait=False, cancel_futures=True)
        for process in list(sandbox.running):
            process.kill()


beforehand = Beforehand()


class Examine(NbGraderPreprocessor):
    """What nbgrader's Execute does, with a sandbox around what students wrote, and the checks outside."""

    seconds = Integer(60, help="How long a cell may take.").tag(config=True)

    def preprocess(self, nb, resources):
        names = resources["nbgrader"]
        source = json.loads((here / "source" / names["assignment"] / f"{names['notebook']}.ipynb").read_text())
        code = [cell for cell in nb.cells if cell.cell_type == "code"]
        shown, _, why = beforehand.result(nb, source, self.seconds)
        if why:
            self.log.warning("%s of %s was ended: %s", names["notebook"], names["student"], why)
        for number, (cell, outputs) in enumerate(zip(code, shown), 1):
            cell.execution_count = number
            cell.outputs = [nbformat.from_dict(o) for o in outputs]
        return nb, resources
