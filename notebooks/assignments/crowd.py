"""Hands in what hostile.py and hostile_python.py make, with honest answers between it in random order, grades all of it, and
compares every mark, every file and every process with what they must be. From the root of the repository,
after lab/install.sh courses:

    .venv-courses/bin/python notebooks/assignments/crowd.py [few | NAME ...]

With names only those submissions are handed in, and with few every third by name, beside the honest ones.
"""

import hashlib
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import psutil
from nbgrader.api import Gradebook, MissingEntry

import hostile
import hostile_python
from roundtrip import checks, end_all, here, read, solved

root = here.parent.parent
course = root / "out" / "crowd"
temporary = course / "tmp"  # of grading, which has to leave it empty
mark = ("COURSE", str(course))
seed = 11
secret = "a-secret-of-the-instructor"
html = ("html", "html_in_the_essay", "escapes")  # submissions that try to have a browser run something


def papers(assignment):
    """The release of an assignment, and its solution."""
    release = read(course / "release" / assignment / f"{assignment}.ipynb")
    return release, solved(read(here / "source" / assignment / f"{assignment}.ipynb"), release)


def submissions(port):
    """All of them by name, in random order."""
    release, full = papers("1-formats")
    desk = hostile.Desk(release, full)
    handed = dict(hostile.dishonest(desk, port)) | dict(hostile.careless(desk))
    for i in range(4):
        handed[f"honest{i:02d}"] = hostile.Submission(desk.answers(f"const seat = {i}"), hostile.everything)
    handed["honest_and_whole"] = hostile.Submission(full, checks(full))
    handed |= hostile_python.submissions(*papers(hostile_python.assignment))
    names = sorted(handed)
    random.Random(seed).shuffle(names)
    return {name: handed[name] for name in names}


def around():
    """What no submission may change."""
    left = {str(path) for path in (*temporary.iterdir(), *map(pathlib.Path, hostile.outside)) if path.exists()}
    return {"submissions": files(course / "submitted"), "the release": files(course / "release"), "the repository": tracked(),
            "temporary files": left, "shared memory": set(os.listdir("/dev/shm")), "processes": confined()}


def hand_in(names, handed):
    for i, name in enumerate(names):
        submission = handed[name]
        folder = course / "submitted" / student(i, name) / submission.name
        for file, content in submission.files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"))
            if ".bin" in file:
                path.chmod(0o755)
    special = course / "submitted" / "zz_link" / "1-formats"
    special.mkdir(parents=True)
    (special / "1-formats.ipynb").symlink_to(course / "gradebook.db")
    special = course / "submitted" / "zz_link_to_folder" / "1-formats"
    special.parent.mkdir()
    special.symlink_to(course / "submitted" / student(0, names[0]) / "1-formats")
    special = course / "submitted" / "zz_fifo" / "1-formats"
    special.mkdir(parents=True)
    os.mkfifo(special / "1-formats.ipynb")
    (course / "submitted" / "zz_loose.ipynb").write_text("{}")


def student(i, name):
    """The name of the folder: a number first, so that the order is that of grading, but for odd names."""
    return f"{i:02d}_{name}" if name.replace("_", "").isalnum() and name.isascii() else name


def files(folder):
    """What all files of a folder hold, by path."""
    return {str(p.relative_to(folder)): p.is_symlink() or p.is_fifo() or hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(folder.rglob("*")) if not p.is_dir() or p.is_symlink()}


def tracked():
    """What the files of the repository hold that git tracks."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    return {n: hashlib.sha256((root / n).read_bytes()).hexdigest() for n in names.split("\0") if n}


def confined():
    """The processes that are in a namespace of their own, as those of sandboxes: numbers and commands. Those
    that have ended are the system's to forget."""
    found = set()
    for process in psutil.process_iter(["cmdline", "status"]):
        try:
            if process.info["status"] != psutil.STATUS_ZOMBIE and os.readlink(f"/proc/{process.pid}/ns/pid") != os.readlink("/proc/self/ns/pid"):
                found.add((process.pid, " ".join(process.info["cmdline"] or [])[:200]))
        except OSError:
            pass
    return found


class Visitors(http.server.BaseHTTPRequestHandler):
    came = []

    def do_GET(self):
        self.came.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def scores(gradebook, assignment, name):
    try:
        submission = gradebook.find_submission(assignment, name)
    except MissingEntry:
        return None
    return {g.cell.name: g.score for n in submission.notebooks for g in n.grades if g.cell.cell_type == "code"}


def runs(who):
    """Whether the page of feedback holds markup that a student wrote."""
    subprocess.run([here / "course.sh", "feedback", f"--student={who}"], check=True, env=os.environ | dict([mark]), stdout=subprocess.DEVNULL)
    page = (course / "feedback" / who / "1-formats" / "1-formats.html").read_text()
    return any(markup in page for markup in ("<script>alert", "<script>fetch", "<script>document.title", "<b>bold", "<img src=x", 'href="javascript:'))


def forged(who):
    """The table of a student whose mark in the gradebook is above the maximum."""
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        next(g for n in gradebook.find_submission("1-formats", who).notebooks for g in n.grades).auto_score = 1089
        gradebook.db.commit()
    return subprocess.run([here / "course.sh", "grade", f"--student={who}"], env=os.environ | dict([mark]), capture_output=True, text=True).stdout


def main(only):
    shutil.rmtree(course, ignore_errors=True)
    temporary.mkdir(parents=True)
    subprocess.run([here / "course.sh", "release"], check=True, env=os.environ | dict([mark]), stdout=subprocess.DEVNULL)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Visitors)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    handed = submissions(server.server_port)
    if only == ["few"]:
        only = [*sorted(handed)[::3], *(name for name in handed if name.startswith("honest"))]
    handed = {name: s for name, s in handed.items() if not only or name in only}
    names = list(handed)
    hand_in(names, handed)
    print(f"crowd: {len(names)} submissions in random order, seed {seed}")

    before = around()
    start = time.monotonic()
    graded = subprocess.run([here / "course.sh", "grade", "--seconds=45"], env=os.environ | dict([mark]) | {"SECRET": secret, "TMPDIR": str(temporary)},
                            capture_output=True, text=True)
    took = time.monotonic() - start
    after = around()
    print(graded.stdout, graded.stderr, sep="")
    print(f"crowd: graded in {took:.0f} s, {took / len(names):.1f} s for each")

    wrong = []
    for what, b in before.items():
        if b != after[what]:
            differ = b ^ after[what] if isinstance(b, set) else {k for k in {**b, **after[what]} if b.get(k) != after[what].get(k)}
            wrong.append(f"{what} changed: {sorted(differ)[:9]}")
    if Visitors.came:
        wrong.append(f"a server of this machine was reached: {Visitors.came}")
    table = graded.stdout.splitlines()
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        for i, name in enumerate(names):
            who, want = student(i, name), handed[name].points
            shown = [line for line in table if line.startswith(who.replace("\t", "�") + "  ")]
            got = scores(gradebook, handed[name].name, who)
            if len(shown) != 1 or ("not graded" in shown[0]) != (want is None):
                wrong.append(f"{name}: the table says {shown}")
            if want and any(want.values()) and not any("to be read" in line for line in shown):
                wrong.append(f"{name}: the essay is not to be read, but was written: {shown}")
            if want is not None:
                missed = {c: p for c, p in (got or {}).items() if p != want.get(c, 0)}
                if got is None or missed:
                    wrong.append(f"{name}: got {got}, want {want}")
                page = course / "autograded" / who / handed[name].name / f"{handed[name].name}.ipynb"
                text = json.dumps([c.get("outputs") for c in read(page)["cells"]]) if page.exists() else ""
                for word in (secret, "20261", "course_test", "BEGIN SOLUTION", "<script", "onerror"):
                    if word in text and not (word == "<script" and name == "escapes"):
                        wrong.append(f"{name}: its outputs hold {word!r}")
    wrong += [f"{name}: its page of feedback runs what a student wrote" for name in names if name in html and runs(student(names.index(name), name))]
    full = next(i for i, name in enumerate(names) if handed[name].points and handed[name].name == "1-formats")
    if "has 1089 points of" not in forged(student(full, names[full])):
        wrong.append("a mark above the maximum is in the table")
    for line in ("zz_link ", "zz_link_to_folder", "zz_fifo", "zz_loose"):
        if not any(row.startswith(line) and "not graded" in row for row in table):
            wrong.append(f"{line} is not in the table")
    if graded.returncode != 1:
        wrong.append(f"grading ended with status {graded.returncode}, want 1, as some could not be graded")
    for w in wrong:
        print("crowd:", w)
    if wrong:
        sys.exit(f"crowd: {len(wrong)} things are wrong")
    print(f"crowd: every one of {len(names)} submissions has the points that it earned, and left nothing behind")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("crowd: terminated"))
    try:
        main(sys.argv[1:])
    finally:
        end_all(mark)
