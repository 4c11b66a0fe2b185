"""A class on the hub: starts it as hub.sh does, and lets students log in and run all cells of an
assignment, all at once. It prints a table of times, and fails unless every cell of every student ran
within so many minutes, 15 unless another number is given.
From the root of the repository, after `make assignments`:

    .venv-courses/bin/python deploy/classroom.py [STUDENTS [ASSIGNMENT [MINUTES]]]

Every student logs in through the page, starts a server, opens the notebook that it finds in its home,
writes the instructor's answers into it, saves it, runs it cell by cell over the channels of the kernel,
and reads the file back.
"""

import asyncio
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import uuid

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

root = pathlib.Path(__file__).resolve().parent.parent
assignments = root / "notebooks" / "assignments"
sys.path.insert(0, str(assignments))
from roundtrip import end_all, read, solved  # noqa: E402

state = root / "out" / "hub-check"  # never that of a hub in use
port = int(os.environ.get("ROUNDOFF_HUB_PORT", "18730"))
mark = ("ROUNDOFF_GOCACHE", str(state / "gocache"))  # in the environment of all that the hub starts
url = f"http://127.0.0.1:{port}"
password = secrets.token_urlsafe(16)


class Student:
    """One browser: its cookies, its token, and what happened when."""

    def __init__(self, name, password=password):
        self.name, self.password, self.cookies, self.headers = name, password, {}, {}
        self.times, self.ran, self.lost = {}, 0, []
        self.last = time.monotonic()

    def lap(self, what):
        now = time.monotonic()
        self.times[what], self.last = now - self.last, now

    async def ask(self, path, method="GET", form=None, json_body=None, statuses=(200, 201, 202, 204, 302)):
        headers = dict(self.headers)
        if json_body is not None:
            headers["Content-Type"] = "application/json"
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        body = urllib.parse.urlencode(form) if form else json.dumps(json_body) if json_body is not None else None
        request = HTTPRequest(url + path, method=method, headers=headers, body=body, follow_redirects=False,
                              connect_timeout=300, request_timeout=300, allow_nonstandard_methods=True)
        response = await AsyncHTTPClient().fetch(request, raise_error=False)
        for cookie in response.headers.get_list("Set-Cookie"):
            name, value = cookie.split(";", 1)[0].split("=", 1)
            self.cookies[name] = value.strip('"')
        if response.code not in statuses:
            raise RuntimeError(f"{method} {path}: {response.code} {response.body[:300]}")
        return response

    async def log_in(self):
        await self.ask("/hub/login")
        form = {"username": self.name, "password": self.password, "_xsrf": self.cookies["_xsrf"]}
        await self.ask("/hub/login", "POST", form, statuses=(302,))
        xsrf = (await self.ask("/hub/token")).body.decode()
        self.headers["X-XSRFToken"] = re.search(r'xsrf_token: "([^"]+)"', xsrf).group(1)
        answer = await self.ask(f"/hub/api/users/{self.name}/tokens", "POST", json_body={})
        self.headers = {"Authorization": "token " + json.loads(answer.body)["token"]}
        self.cookies = {}
        self.lap("log in")

    async def start_server(self):
        server = f"/hub/api/users/{self.name}/server"
        while (await self.ask(server, "POST", json_body={}, statuses=(201, 202, 429))).code == 429:
            await asyncio.sleep(2)  # the hub is starting as many as it may
        while True:
            user = json.loads((await self.ask(f"/hub/api/users/{self.name}")).body)
            model = user["servers"].get("", {})
            if model.get("ready"):
                break
            if not model.get("pending"):
                raise RuntimeError("the server did not start; out/hub-check/hub.log says why")
            await asyncio.sleep(2)
        self.lap("server")

    async def run(self, assignment):
        base = f"/user/{self.name}/api"
        path = f"{assignment}/{assignment}.ipynb"
        file = json.loads((await self.ask(f"{base}/contents/{path}")).body)
        notebook = solved(read(assignments / "source" / assignment / f"{assignment}.ipynb"), file["content"])
        save = {"type": "notebook", "format": "json", "content": notebook}
        await self.ask(f"{base}/contents/{path}", "PUT", json_body=save)
        session = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "gonb"}}
        kernel = json.loads((await self.ask(f"{base}/sessions", "POST", json_body=session)).body)["kernel"]["id"]
        channels = f"ws{url[4:]}{base}/kernels/{kernel}/channels"
        request = HTTPRequest(channels, headers=self.headers, connect_timeout=300, request_timeout=300)
        socket = await websocket_connect(request, ping_interval=30)
        self.lap("kernel")
        self.cells = [c["source"] for c in notebook["cells"] if c["cell_type"] == "code"]
        for number, cell in enumerate(self.cells, 1):
            status, text = await self.execute(socket, "".join(cell))
            if status == "ok":
                self.ran += 1
            else:
                self.lost.append(f"code cell {number}: {text}")
        socket.close()
        self.lap("cells")
        back = json.loads((await self.ask(f"{base}/contents/{path}")).body)
        if [c["source"] for c in back["content"]["cells"]] != [c["source"] for c in notebook["cells"]]:
            self.lost.append("the notebook that was saved is not the one that was read back")

    async def execute(self, socket, code, shown=None):
        """Runs a cell and returns the status of its reply, once its output is complete. Sets the event shown when it
        prints something."""
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": self.name,
                  "session": self.name, "version": "5.3", "date": ""}
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {},
                   "allow_stdin": False, "stop_on_error": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content,
                   "channel": "shell", "buffers": []}
        await socket.write_message(json.dumps(message))
        reply, idle, text = None, False, ""
        while reply is None or not idle:
            frame = await socket.read_message()
            if frame is None:
                return "closed", "the connection to the kernel was lost"
            m = json.loads(frame)
            if m["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            if m["msg_type"] == "execute_reply":
                reply = m["content"]["status"]
            elif m["msg_type"] == "error":
                text += m["content"]["evalue"][:300]
            elif m["msg_type"] == "stream" and shown is not None:
                shown.set()
            elif m["msg_type"] == "status":
                idle = m["content"]["execution_state"] == "idle"
        return reply, text

    async def attend(self, assignment):
        start = time.monotonic()
        try:
            await self.log_in()
            await self.start_server()
            await self.run(assignment)
        except (OSError, RuntimeError, HTTPClientError, KeyError) as e:
            self.lost.append(f"{type(e).__name__}: {e}")
        self.times["all"] = time.monotonic() - start


async def hub_ready(hub, patience):
    for _ in range(2 * patience):
        if hub.poll() is not None:
            return False
        try:
            await AsyncHTTPClient().fetch(url + "/hub/api/")
            return True
        except (OSError, HTTPClientError):
            await asyncio.sleep(0.5)
    return False


def table(students):
    columns = ["log in", "server", "kernel", "cells", "all"]
    lines = [f"{'student':10}" + "".join(f"{c + ', s':>12}" for c in columns) + f"{'cells run':>12}"]
    for s in students:
        times = "".join(f"{s.times.get(c, float('nan')):12.1f}" for c in columns)
        lines.append(f"{s.name:10}{times}{s.ran:>12}")
    return "\n".join(lines)


async def lesson(hub, students, assignment, patience):
    if not await hub_ready(hub, patience):
        sys.exit("classroom: the hub did not start; out/hub-check/hub.log says why")
    AsyncHTTPClient.configure(None, max_clients=4 * len(students))
    for s in students:
        s.last = time.monotonic()
    async with asyncio.timeout(patience), asyncio.TaskGroup() as group:
        for s in students:
            group.create_task(s.attend(assignment))


def main(count=20, assignment="2-summation", minutes=15):
    release = assignments / "release"
    if not (release / assignment).is_dir():
        release = root / "out" / "course" / "release"  # of roundtrip.py
    if not (release / assignment).is_dir():
        sys.exit("classroom: no assignment is released; `make assignments` comes first")
    end_all(mark)
    state.mkdir(parents=True, exist_ok=True)
    for left in state.iterdir():
        if left.name not in ("gocache", "accounts"):  # what is compiled and installed may stay
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    environment = os.environ | dict([mark]) | {"ROUNDOFF_HUB_PASSWORD": password, "ROUNDOFF_HUB_PORT": str(port),
                                "ROUNDOFF_HUB_STATE": str(state), "ROUNDOFF_RELEASE": str(release)}
    students = [Student(f"student{i:02d}") for i in range(1, count + 1)]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in a job in the background
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    with open(state / "hub.log", "wb") as log:
        hub = subprocess.Popen([root / "deploy" / "hub.sh"], env=environment, stdout=log, stderr=log,
                               start_new_session=True)
        try:
            asyncio.run(lesson(hub, students, assignment, 60 * minutes))
        except TimeoutError:
            print(f"classroom: the class has not finished after {minutes} minutes")
        except KeyboardInterrupt:
            print("classroom: interrupted")
        finally:
            hub.terminate()  # the hub stops its proxy and all servers, and these their kernels
            try:
                hub.wait(60)
            except subprocess.TimeoutExpired:
                print("classroom: the hub did not end by itself")
            end_all(mark)
    print(table(students))
    for s in students:
        for what in s.lost:
            print(f"classroom: {s.name} lost {what}")
    finished = sum(not s.lost and "cells" in s.times for s in students)
    print(f"classroom: {finished} of {count} students finished {assignment} on {os.cpu_count()} cores")
    sys.exit(finished != count)


if __name__ == "__main__":
    parse = (int, str, int)
    main(*(p(a) for p, a in zip(parse, sys.argv[1:])))
