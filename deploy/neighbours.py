"""The hub as README.md sets it up, with accounts, and a student who tries to read what others have:

    .venv-courses/bin/python deploy/neighbours.py

Bert works on an assignment while Anna, from a terminal of her server, tries to read his files, processes,
sockets and server, the instructor's course, and the hub's own state (probe.py). Then root tries the same and
must find all of it, or the search is no good. The accounts, /home and /srv exist for this test alone, in a
mount namespace, and end with it. Exits with 75 where that cannot be had: it takes root.
"""

import asyncio
import json
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import urllib.parse

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

import classroom
from classroom import Student, assignments, end_all, hub_ready, port, read, root, url

folder = root / "out" / "hub-check" / "accounts"  # /srv, and the hub's log
hub, course = pathlib.Path("/srv/roundoff"), pathlib.Path("/srv/course")
state = hub / "out" / "hub-check"
mark = ("ROUNDOFF_GOCACHE", str(state / "gocache"))
assignment = "2-summation"
passwords = {name: secrets.token_urlsafe(12) for name in ("anna", "bert", "carl")}
texts = {name: [secrets.token_hex(16)] for name in ("work", "output", "submission", "grade")}


def solutions():
    """The long lines of the assignments' sources that are not released, as they are and as in a notebook."""
    def text(path):
        return "\n".join("".join(cell["source"]) for cell in read(path)["cells"])
    for source in (assignments / "source").glob("*/*.ipynb"):
        public = text(released() / source.parent.name / source.name)
        own = {line.strip() for line in text(source).splitlines() if len(line) >= 60}
        own = [line for line in own if line not in public]
        assert own, f"{source} has no solutions"
        yield f"solutions of {source.stem}", [*own, *(json.dumps(line, ensure_ascii=False)[1:-1] for line in own)]


def released():
    """The folder of the released assignments."""
    mine = assignments / "release"
    return mine if mine.is_dir() else root / "out" / "course" / "release"


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def accounts():
    """Accounts that only this process and what it starts can see."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ("etc", "srv"):
        (folder / name).mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "-o", "mode=755", "accounts", folder / "etc")
    run("cp", "-a", "/etc/.", folder / "etc")
    run("mount", "--bind", folder / "etc", "/etc")
    run("mount", "--bind", folder / "srv", "/srv")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "homes", "/home")
    run("groupadd", "class")
    for name, groups in (("anna", "class"), ("bert", "class"), ("carl", "")):
        run("useradd", "--create-home", "--no-log-init", "--shell", "/bin/bash",
            "--groups", groups, name)
    run("chpasswd", input="".join(f"{n}:{p}\n" for n, p in passwords.items()), text=True)


def install(dest, course, **options):
    options |= {"stdout": subprocess.DEVNULL, "env": os.environ | {"COURSE": str(course)}}
    return subprocess.run([root / "deploy" / "install.sh", dest], **options).returncode


def teach():
    """Installs the hub, and keeps a course beside it, as the README asks."""
    shutil.rmtree("/srv/wrong", ignore_errors=True)
    wrong = pathlib.Path("/srv/wrong")
    shutil.copytree(assignments / "source", wrong / "release")
    (wrong / "clone" / ".git").mkdir(parents=True)
    for dest, made in ((hub, wrong), (wrong / "clone", released().parent), (wrong, released().parent)):
        assert install(dest, made, stderr=subprocess.DEVNULL) == 1, f"{made} is installed in {dest}"
    shutil.rmtree(wrong)
    status = install(hub, released().parent)
    if status != 0:
        print("neighbours: whether students can read each other's files is not tried: the hub is not installed")
        sys.exit(status)
    texts.update(solutions())
    shutil.rmtree(course, ignore_errors=True)
    shutil.rmtree(state / "private", ignore_errors=True)
    umask = os.umask(0o077)
    shutil.copytree(assignments / "source", course / "source")
    course.chmod(0o700)
    submission = course / "submitted" / "bert" / assignment
    submission.mkdir(parents=True)
    (submission / f"{assignment}.ipynb").write_text(texts["submission"][0])
    (course / "gradebook.db").write_text(texts["grade"][0])
    os.umask(umask)


async def work(bert):
    """Bert's day: a notebook with an output, saved, and a kernel that has begun to show it, and goes on."""
    base = "/user/bert/api"
    path = f"{assignment}/{assignment}.ipynb"
    notebook = json.loads((await bert.ask(f"{base}/contents/{path}")).body)["content"]
    output = {"output_type": "stream", "name": "stdout", "text": texts["output"][0]}
    notebook["cells"] += [
        {"cell_type": "code", "id": "work", "metadata": {}, "source": texts["work"][0], "execution_count": 1, "outputs": [output]}]
    await bert.ask(f"{base}/contents/{path}", "PUT", json_body={"type": "notebook", "format": "json", "content": notebook})
    session = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "gonb"}}
    kernel = json.loads((await bert.ask(f"{base}/sessions", "POST", json_body=session)).body)["kernel"]["id"]
    channels = f"ws{url[4:]}{base}/kernels/{kernel}/channels"
    socket = await websocket_connect(HTTPRequest(channels, headers=bert.headers, request_timeout=300), ping_interval=30)
    status, text = await bert.execute(socket, 'import "fmt"\n%%\nfmt.Println(1)')
    assert status == "ok", text
    code = f'import "time"\n%%\nfor range 4800 {{\n\tfmt.Println("{texts["output"][0]}")\n\ttime.Sleep(time.Second / 4)\n}}'
    shown = asyncio.Event()
    running = asyncio.create_task(bert.execute(socket, code, shown))
    await asyncio.wait({running, asyncio.create_task(shown.wait())}, return_when=asyncio.FIRST_COMPLETED)
    return running


def questions(bert, mine, tokens):
    """What probe.py is to look for."""
    uid = pwd.getpwnam("bert").pw_uid
    private = [f"/user/bert/api/{p}" for p in ("contents", f"contents/{assignment}/{assignment}.ipynb", "sessions", "terminals")]
    urls = [url + p for p in (*private, "/hub/api/users", "/hub/api/users/bert", "/hub/api/users/bert/tokens")]
    return {"texts": texts | {"token": [bert.headers["Authorization"].split()[1]]}, "mine": mine, "theirs": uid, "tokens": tokens,
            "roots": ["/home", "/srv"], "closed": ["/home/bert", str(course), str(state / "private")],
            "fixed": [str(hub)], "urls": [*urls, f"http://127.0.0.1:{port + 2}/api/routes"], "paths": private}


async def probe(anna, asked):
    """Runs probe.py in a terminal of Anna's server, and returns what it printed."""
    base = "/user/anna/api"
    for name, text in (("probe.py", (root / "deploy" / "probe.py").read_text()), ("asked.json", json.dumps(asked))):
        await anna.ask(f"{base}/contents/{name}", "PUT", json_body={"type": "file", "format": "text", "content": text})
    terminal = json.loads((await anna.ask(f"{base}/terminals", "POST", json_body={})).body)["name"]
    request = HTTPRequest(f"ws{url[4:]}/user/anna/terminals/websocket/{terminal}", headers=anna.headers)
    socket = await websocket_connect(request)
    line = f"{hub}/.venv-courses/bin/python ~/probe.py ~/asked.json >~/new.txt 2>&1; mv ~/new.txt ~/found.txt\r"
    await socket.write_message(json.dumps(["stdin", line]))
    while True:
        answer = await anna.ask(f"{base}/contents/found.txt", statuses=(200, 404))
        if answer.code == 200:
            return json.loads(answer.body)["content"]
        await asyncio.sleep(1)


async def trespass(name):
    """What a browser with a student's cookies gets of Bert's server, following where it is sent."""
    thief = Student(name, passwords[name])
    await thief.ask("/hub/login")
    form = {"username": name, "password": thief.password, "_xsrf": thief.cookies["_xsrf"]}
    await thief.ask("/hub/login", "POST", form, statuses=(302,))
    path = "/user/bert/lab"
    for _ in range(10):
        answer = await thief.ask(path, statuses=range(600))
        if answer.code != 302:
            return answer.code
        path = urllib.parse.urljoin(url + path, answer.headers["Location"]).removeprefix(url)


async def lesson(process):
    assert await hub_ready(process, 600), f"the hub did not start; {folder}/hub.log says why"
    faults = []
    anna, bert, carl = (Student(name, password) for name, password in passwords.items())
    try:
        await carl.log_in()
        faults.append("an account outside the group may log in")
    except RuntimeError:
        pass
    for student in (anna, bert):
        await student.log_in()
        await student.start_server()
    running = await work(bert)
    own = await trespass("bert")
    assert own == 200, f"Bert gets {own} of his own server"
    code = await trespass("anna")
    if code == 200:
        faults.append("Anna's cookies open Bert's server")
    token = anna.headers["Authorization"].split()[1]
    answer = await probe(anna, questions(bert, pwd.getpwnam("anna").pw_uid, [token]))
    try:
        faults += [f"Anna reads {what}: {where}" for what, where in json.loads(answer)]
    except ValueError:
        faults.append(f"probe.py failed:\n{answer}")
    (folder / "asked.json").write_text(json.dumps(questions(bert, -1, [])))
    answer = run(sys.executable, root / "deploy" / "probe.py", folder / "asked.json", capture_output=True, text=True)
    control = json.loads(answer.stdout)
    for what in [*texts, "socket", "names", "environment", "fd"]:
        if what not in {c[0] for c in control}:
            faults.append(f"root does not find {what} either, so the search is no good")
    if not any(what == "output" and "ipc://" in where for what, where in control):
        faults.append("root hears nothing on the socket of Bert's kernel, so the search is no good")
    assert not running.done(), f"Bert's cell ended: {running}"
    running.cancel()
    return faults


def inside():
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    accounts()
    teach()
    environment = os.environ | {"ROUNDOFF_HUB_PORT": str(port), "ROUNDOFF_HUB_STATE": str(state), "ROUNDOFF_HUB_GROUP": "class"}
    environment.pop("ROUNDOFF_HUB_PASSWORD", None)
    with open(folder / "hub.log", "wb") as log:
        process = subprocess.Popen([hub / "deploy" / "hub.sh"], env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            faults = asyncio.run(asyncio.wait_for(lesson(process), 1200))
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                print("neighbours: the hub did not end by itself")
            end_all(mark)
    for fault in faults:
        print("neighbours:", fault)
    print(f"neighbours: {'FAILED' if faults else 'Anna reads nothing of Bert, of the course or of the hub'}")
    sys.exit(bool(faults))


def main():
    if os.getuid() != 0:
        print("neighbours: whether students can read each other's files is not tried: accounts for it take root")
        sys.exit(75)
    if subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "trial", "/home"], capture_output=True).returncode != 0:
        print("neighbours: whether students can read each other's files is not tried: this machine allows no mount namespace")
        sys.exit(75)
    os.execvp("unshare", ["unshare", "--mount", sys.executable, __file__, "inside"])


if __name__ == "__main__":
    inside() if sys.argv[1:] == ["inside"] else main()
