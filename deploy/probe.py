"""What a curious student can read: looks for texts in all files, processes and sockets of others, and prints
what it found, a JSON list. Its argument is a JSON file that neighbours.py writes:

    texts   lists of what must not be read, by name
    roots   the folders to look through, and in temporary ones what is theirs
    closed  folders of which not even the names may be read
    fixed   folders in which nothing may be written
    urls    addresses that must not answer with 200
    paths   and these, of every server of theirs
    tokens  to send there
    mine    the account whose files and processes are left out
    theirs  the account whose ports and temporary files are looked at
"""

import http.client
import json
import os
import stat
import sys
import urllib.error
import urllib.request

import zmq

asked = json.load(open(sys.argv[1]))
texts = {name: [text.encode() for text in several] for name, several in asked["texts"].items()}
mine, theirs = asked["mine"], asked["theirs"]
temporary = ["/tmp", "/var/tmp", "/dev/shm"]
found = []


def look(where, content):
    """Notes whose texts are in the content, and returns whether there are any."""
    seen = [name for name, several in texts.items() if any(text in content for text in several)]
    found.extend([name, where] for name in seen)
    return bool(seen)


def listen(address, seconds=3):
    """Subscribes to what a kernel shows, as its ports and sockets let everybody who can connect."""
    with zmq.Context() as context, context.socket(zmq.SUB) as sub:
        sub.linger = 0
        sub.subscribe(b"")
        sub.connect(address)
        while sub.poll(1000 * seconds) and not look(address, b"".join(sub.recv_multipart())):
            pass


def files(root):
    for folder, _, names in os.walk(root):
        status = os.stat(folder)
        if status.st_uid != mine and os.access(folder, os.W_OK) and any(folder.startswith(f) for f in asked["fixed"]):
            found.append(["writable", folder])
        for name in names:
            path = os.path.join(folder, name)
            try:
                status = os.lstat(path)
                if status.st_uid == mine or stat.S_ISLNK(status.st_mode):
                    continue
                if root in temporary and status.st_uid != theirs:
                    continue
                if stat.S_ISSOCK(status.st_mode):
                    if os.access(path, os.W_OK):
                        found.append(["socket", path])
                        listen("ipc://" + path)
                    continue
                with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                    if stat.S_ISREG(status.st_mode):
                        look(path, file.read())
                    else:
                        found.append(["special file", path])
            except OSError:
                pass


def processes():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == mine:
                continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                look(f"the command line of {pid}", file.read())
            with open(f"/proc/{pid}/environ", "rb") as file:
                look(f"the environment of {pid}", file.read())
            found.append(["environment", pid])
        except OSError:
            pass
        for link in ("cwd", "exe", "fd"):
            try:
                path = f"/proc/{pid}/{link}"
                os.listdir(path) if link == "fd" else os.readlink(path)
                found.append([link, pid])
            except OSError:
                pass


def ports():
    """The ports on which they listen: Linux tells everybody."""
    for line in open("/proc/net/tcp").readlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and int(fields[7]) == theirs:
            yield int(fields[1].split(":")[1], 16)


def ask(urls):
    """Asks a server for addresses, with each token, as long as it answers at all."""
    for url in urls:
        for token in ["", *asked["tokens"], os.environ.get("JUPYTERHUB_API_TOKEN", "")]:
            request = urllib.request.Request(url, headers={"Authorization": f"token {token}"} if token else {})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    if answer.status == 200 and "/login" not in answer.url:
                        found.append(["answer", url])
            except urllib.error.HTTPError:
                pass
            except (OSError, http.client.HTTPException):
                return


for folder in asked["closed"]:
    try:
        os.listdir(folder)
        found.append(["names", folder])
    except OSError:
        pass
for root in asked["roots"] + temporary:
    files(root)
processes()
ask(asked["urls"])
for port in ports():
    listen(f"tcp://127.0.0.1:{port}")
    ask(f"http://127.0.0.1:{port}{path}" for path in asked["paths"])
print(json.dumps(found))
