"""What careless and dishonest students hand in of assignment 1, for crowd.py. threats.md says what must hold.
"""

import copy
import json

stub = 'panic("not implemented")'
kept = ("where", "imports", "unit-roundoff", "check-unit-roundoff", "first-gap", "check-first-gap", "ulp", "check-ulp", "essay")


class Submission:
    """A folder's files, and the points that the checks must get: None for a folder that cannot be graded."""

    def __init__(self, notebook, points=None, files=None, name="1-formats"):
        self.files = dict(files or {})
        if notebook is not None:
            self.files[f"{name}.ipynb"] = notebook if isinstance(notebook, (str, bytes)) else json.dumps(notebook)
        self.points, self.name = points, name


def name_of(cell):
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def code(source, **metadata):
    return {"cell_type": "code", "id": "c", "execution_count": None, "metadata": metadata, "outputs": [], "source": source}


class Desk:
    """What a student starts from: the release and, for the careless, its solution; both cut short, to the
    three functions that are worth 4 points."""

    def __init__(self, release, solved, stub=stub):
        self.stub = stub
        self.release, self.solved = ({**n, "cells": [c for c in n["cells"] if name_of(c) in kept]} for n in (release, solved))

    def stubs(self, body="", *cells):
        """The release with the body in place of every stub, and these code cells before the answers."""
        notebook = copy.deepcopy(self.release)
        for cell in notebook["cells"]:
            cell["source"] = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            cell["source"] = cell["source"].replace(self.stub, body or self.stub)
        notebook["cells"][2:2] = [code(c) for c in cells]
        return notebook

    def answers(self, *cells):
        """The solution, with these cells in front of the answers."""
        notebook = copy.deepcopy(self.solved)
        notebook["cells"][2:2] = [code(c) for c in cells]
        return notebook

    def cell(self, notebook, name):
        return next(c for c in notebook["cells"] if name_of(c) == name)


everything = {"check-unit-roundoff": 1, "check-first-gap": 1, "check-ulp": 2}
nothing = dict.fromkeys(everything, 0)

# Dishonest: what stands in place of every answer.
bodies = {
    "exit": 'os.Exit(0); panic("")',
    "exit_goroutine": 'go func() { os.Exit(0) }(); select {}',
    "goexit": 'runtime.Goexit(); panic("")',
    "exec": 'syscall.Exec("/bin/true", nil, nil); panic("")',
    "kill_itself": 'syscall.Kill(syscall.Getpid(), syscall.SIGKILL); panic("")',
    "kill_all": 'syscall.Kill(-1, syscall.SIGKILL); panic("")',
    "recovered": 'defer func() { recover() }(); panic("")',
    "silent": 'os.Stdout.Close(); os.Stderr.Close(); os.Exit(0); panic("")',
    "forever": 'for { }',
    "memory": 'var all [][]byte; for { b := make([]byte, 1<<28); for i := range b { b[i] = 1 }; all = append(all, b) }',
    "threads": 'for { go func() { runtime.LockOSThread(); select {} }(); exec.Command("sleep", "987654").Start() }',
    "long_panic": 'panic(strings.Repeat("mark ", 1<<22))',
    "escapes": 'panic("\\x1b]0;title\\a\\x1b[2J<script>document.title=1</script>")',
    "not_a_number": 'return math.NaN()',
    "infinite": 'return math.Inf(1)',
}


# Where hostile cells write, of which nothing may be there outside of the sandbox.
outside = ["/tmp/a.go", "/tmp/o.json", "/tmp/fake", "/tmp/full", "/dev/shm/full", "/tmp/roundoff-was-here"]


def sockets(program):
    """A cell that connects to every examiner, and does this to its socket s."""
    return ("!for s in /examination/*; do timeout 2 python3 -c \"import socket, sys, time; s = socket.socket(socket.AF_UNIX); "
            f"s.connect(sys.argv[1]); {program}\" $s; done")


# Dishonest: a cell of its own before untouched stubs.
cells = {
    "init": "func init() { os.Exit(0) }",
    "variable": "var _ = func() int { os.Exit(0); return 0 }()",
    "overlay": '!printf \'package course\\nfunc Answer(string, any) {}\\n\' >/tmp/a.go; printf \'{"Replace":{"%s/pkg/course/answer.go":"/tmp/a.go"}}\' '
               '"$(go list -m -f {{.Dir}} github.com/roundofflab/roundoff 2>/dev/null || pwd)" >/tmp/o.json\n%goflags -overlay=/tmp/o.json',
    "flags": "%env GOFLAGS=-overlay=/tmp/o.json",
    "path": "!mkdir -p /tmp/fake; printf '#!/bin/sh\\nexit 0\\n' >/tmp/fake/go; chmod +x /tmp/fake/go\n%env PATH=/tmp/fake:/usr/bin:/bin",
    "edits_packages": "!for f in $(find / -path '*/pkg/course/*.go' -not -path '/proc/*' 2>/dev/null); do sed -i 's/^func Check.*{$/&\\n\\treturn/' $f; done",
    "gradebook": "!for f in $(find / -name gradebook.db -not -path '/proc/*' 2>/dev/null); do python3 -c \"import sqlite3,sys; "
                 "c = sqlite3.connect(sys.argv[1]); c.execute('UPDATE grade SET manual_score = 99'); c.commit()\" $f; done",
    "others": "!find / \\( -name submitted -o -name autograded -o -name taken -o -name release -o -name source \\) -type d "
              "-not -path '/proc/*' -not -path '/usr/*' -exec rm -rf {} + 2>/dev/null; rm -rf ../../.. ../../submitted",
    "steals": "!env; cat /proc/*/environ | tr '\\0' '\\n'; find / -name '*.ipynb' -not -path '/proc/*' -exec cat {} +; "
              "ls -la ~ / /root /home /etc; cat /etc/shadow; find / -path '*/course/*_test.go' -not -path '/proc/*' -not -path '/usr/*' 2>/dev/null; grep -r 20261 / --include=*.ipynb --include=*.go 2>/dev/null | head",
    "network": "!for a in 127.0.0.1 localhost; do python3 -c \"import sys, urllib.request; "
               "urllib.request.urlopen('http://%s:PORT/' % sys.argv[1], timeout=3)\" $a; done; "
               "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80), 3)\"",
    "leaves": "!setsid nohup sleep 987654 >/dev/null 2>&1 & \n!(trap '' INT TERM HUP; setsid sh -c 'while :; do :; done' >/dev/null 2>&1 &)",
    "bomb": "!bomb() { bomb | bomb & }; bomb",
    "fills": "!dd if=/dev/zero of=/tmp/full bs=1M count=4000; dd if=/dev/zero of=$HOME/full bs=1M; dd if=/dev/zero of=/dev/shm/full bs=1M count=4000",
    "prints": "%%\nfor { fmt.Println(strings.Repeat(\"x\", 1<<16)) }",
    "kernel": "!kill -9 $PPID; pkill -9 gonb; pkill -9 python",
    "stopped": "!kill -STOP $PPID; pkill -STOP gonb",
    "ignores": "%%\nsignal.Ignore(syscall.SIGINT, syscall.SIGTERM); for { }",
    "shadow": "type shadow struct{}\nfunc (shadow) Answer(string, any) {}\nfunc (shadow) CheckUlp(any, ...int) {}\nvar course shadow",
    "html": "%%\ngonbui.DisplayHtml(\"<script>fetch('/formgrader/api/grade/1',{method:'PUT'})</script><img src=x onerror=alert(1)>\")",
    "answers_sockets": sockets("[s.sendall(b'{\\\"results\\\":[\\\"1\\\"]}\\\\n' * 1000) for i in range(99)]"),
    "floods_sockets": sockets("s.sendall(b'x' * (64 << 20))"),
    "calls_back": sockets("[s.sendall(b'{\\\"call\\\":%d,\\\"args\\\":[]}\\\\n' % (i - 9)) for i in range(1 << 30)]"),
    "holds_sockets": sockets("time.sleep(987654)").replace("do python3", "do setsid python3").replace("$s; done", "$s >/dev/null 2>&1 & done"),
}


def dishonest(desk, port):
    """Pairs of a name and a submission that has earned nothing, unless it says so."""
    for name, body in bodies.items():
        yield name, Submission(desk.stubs(body), nothing)
    for name, cell in cells.items():
        yield name, Submission(desk.stubs("", cell.replace("PORT", str(port))), nothing)

    seen = desk.stubs()  # right for the data that students see, wrong for others
    desk.cell(seen, "ulp")["source"] = (
        "var asked int\nfunc Ulp(f tcore.Format, x float64) float64 {\n\tasked++\n\tif asked > 800 {\n\t\treturn 1\n\t}\n"
        "\treturn math.Ldexp(1, max(math.Ilogb(x), f.Emin)-f.Precision+1)\n}")
    yield "only_what_is_seen", Submission(seen, nothing)

    emptied = desk.stubs()
    for cell in emptied["cells"]:
        if name_of(cell).startswith("check-"):
            cell["source"] = "%%\n"
    yield "emptied_checks", Submission(emptied, nothing)

    worth = desk.stubs()
    for cell in worth["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"] |= {"points": 100, "grade": True, "locked": False, "checksum": "0"}
    yield "worth_more", Submission(worth, nothing)

    new = desk.stubs()
    new["cells"].append(code("%%\n", nbgrader={"grade": True, "grade_id": "check-mine", "locked": True, "points": 50,
                                               "schema_version": 3, "solution": False, "task": False}))
    yield "a_check_of_its_own", Submission(new, nothing)

    python = desk.stubs()
    python["metadata"] = {"kernelspec": {"name": "python3", "display_name": "x", "language": "python"}, "language_info": {"name": "python"}}
    yield "python", Submission(python, nothing)

    text = desk.stubs()
    for cell in text["cells"]:
        cell["cell_type"] = "markdown"
    yield "all_text", Submission(text, nothing)

    done = desk.stubs()  # with outputs and counts as if it had been graded
    for cell in done["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"], cell["outputs"] = 1, [{"output_type": "execute_result", "execution_count": 1, "metadata": {},
                                                            "data": {"text/plain": "100"}}]
    yield "already_run", Submission(done, nothing)

    # A folder that passes for the repository, with a kernel of its own.
    yield "own_repository", Submission(desk.stubs(), nothing, {
        "go.mod": "module github.com/roundofflab/roundoff\n", "pkg/course/course.go": "package course\nfunc Answer(string, any) {}\n",
        ".bin/gonb": "#!/bin/sh\ntouch /tmp/roundoff-was-here\n", "timestamp.txt": "not a time", "nbgrader_config.py": "raise SystemExit(0)",
        "sitecustomize.py": "raise SystemExit(0)"})

    for name, content in {
        "empty": "", "null": "null", "list": "[]", "brackets": "[" * 100000, "text": "this is no notebook", "bytes": b"\xff\xfe\x00\x80" * 99,
        "format_3": '{"nbformat":3,"worksheets":[]}', "no_cells": '{"nbformat":4}', "too_many": json.dumps({"nbformat": 4, "cells": [{}] * 1001}),
        "huge": b"[" + b" " * (17 << 20) + b"]",
    }.items():
        yield name, Submission(content)
    odd = {"nbformat": 4, "nbformat_minor": 99, "metadata": 7, "cells": [
        None, 1, "x", [], {}, {"cell_type": "raw"}, {"cell_type": "code"}, {"cell_type": "code", "source": 5, "metadata": 5, "outputs": 5},
        {"cell_type": "code", "source": [1, None, "x"], "metadata": {"nbgrader": 5}}, {"cell_type": "markdown", "source": "\ud800 \x00", "attachments": 5},
        {"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade_id": ["check-ulp"]}}}]}
    yield "odd_cells", Submission(odd, nothing)
    yield "no_notebook", Submission(None, None, {"1-formats.py": "print(1)"})
    yield "another_name", Submission(None, None, {"1-formats.ipynb": json.dumps(desk.answers())}, name="1-Formats")


def careless(desk):
    """Pairs of a name and a submission that has earned all points that it can, in spite of a slip."""
    copied = desk.answers()
    i = copied["cells"].index(desk.cell(copied, "ulp"))
    copied["cells"].insert(i + 1, copy.deepcopy(copied["cells"][i]))
    yield "a_copied_answer", Submission(copied, everything)

    twice = desk.answers()
    twice["cells"].append(copy.deepcopy(desk.cell(twice, "check-ulp")))
    yield "a_copied_check", Submission(twice, everything)

    before = desk.answers()  # a copy of the stub, left above the answer
    before["cells"].insert(2, copy.deepcopy(desk.cell(desk.stubs(), "ulp")))
    yield "a_copied_stub", Submission(before, everything)

    essay = desk.answers()  # the cell of the essay, copied before it was written
    essay["cells"].insert(2, copy.deepcopy(desk.cell(desk.stubs(), "essay")))
    yield "a_copied_essay", Submission(essay, everything)

    loud = desk.answers('%%\nfor range 3000 { fmt.Println("debug"); println("debug") }')
    yield "prints_much", Submission(loud, everything)

    endless = desk.answers("%%\nfor { }")
    yield "an_endless_cell", Submission(endless, everything)

    broken = desk.answers("func Half(x float64) float64 { return x / }")
    yield "does_not_compile", Submission(broken, everything)

    partly = desk.answers()
    desk.cell(partly, "first-gap")["source"] = desk.cell(desk.stubs("for {}"), "first-gap")["source"]
    yield "an_endless_answer", Submission(partly, everything | {"check-first-gap": 0})

    deleted = desk.answers()
    deleted["cells"].remove(desk.cell(deleted, "check-first-gap"))
    yield "a_deleted_check", Submission(deleted, everything | {"check-first-gap": 0})

    joined = desk.answers()
    joined["cells"][-1]["source"] = ["## Essay\n", "It is <b>bold</b> & says 1 < 2, $a<b$.\n", "<script>alert(1)</script> [x](javascript:alert(1))"]
    yield "html_in_the_essay", Submission(joined, everything)

    for name in ("Ann Lee", "O'Brien", "ünal", "-rf", "x.y@z.edu", "a;b", "$(reboot)", "tab\tname"):
        yield name, Submission(desk.answers("const odd = true"), everything)  # the same, which is run once
