"""Runs lab/audit.sh with made-up databases: what is vulnerable must fail, what cannot be asked must not pass."""

import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading

date = "2099-01-01T00:00:00Z"
vulnerable = {"python": None}


class OSV(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["package"]["name"]
        vulns = [{"id": "PYSEC-2099-1", "modified": date, "details": "made up", "affected": []}]
        body = json.dumps({"vulns": vulns} if asked == vulnerable["python"] else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def database(folder, *modules):
    """Writes a database of Go in which the modules are vulnerable, and returns its address."""
    files = {"index/db": {"modified": date}, "index/vulns": [], "index/modules": []}
    for number, module in enumerate(modules, 1):
        name = f"GO-2099-{number:04}"
        files["index/modules"].append({"path": module, "vulns": [{"id": name, "modified": date}]})
        affected = {"package": {"name": module, "ecosystem": "Go"}, "ecosystem_specific": {"imports": []},
                    "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}]}
        files[f"ID/{name}"] = {"schema_version": "1.3.1", "id": name, "modified": date, "published": date,
                               "summary": "made up", "affected": [affected], "database_specific": {"review_status": "REVIEWED"}}
    for name, content in files.items():
        path = pathlib.Path(folder, name + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return f"file://{folder}"


def audit(want, *says, **databases):
    result = subprocess.run(["lab/audit.sh"], env=os.environ | databases, capture_output=True, text=True)
    told = result.stdout + result.stderr
    assert result.returncode == want and all(s in told for s in says), f"{databases}: {result.returncode}, want {want}\n{told}"


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OSV)
threading.Thread(target=server.serve_forever, daemon=True).start()
osv = f"http://127.0.0.1:{server.server_port}/v1/query"
unreached = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}  # the real databases
with tempfile.TemporaryDirectory() as clean, tempfile.TemporaryDirectory() as dirty:
    database(clean)
    database(dirty, "github.com/mmcloughlin/avo")
    audit(0, "Go modules of tools/go.mod: no vuln", "lab/audit.txt: no vuln", GOVULNDB=f"file://{clean}", OSV_URL=osv)
    audit(75, "./go.mod: NOT ASKED", "lab/requirements.txt: NOT ASKED", **unreached)
    audit(1, "internal/asm/go.mod: FAILED", "lab/requirements.txt: NOT ASKED", GOVULNDB=f"file://{dirty}", **unreached)
    vulnerable["python"] = "nbgrader"
    audit(1, "lab/courses.txt: FAILED", "PYSEC-2099-1", OSV_URL=osv, **unreached)
print("audit: made-up vulnerabilities are found, and what cannot be asked does not pass")
