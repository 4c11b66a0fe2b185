# JupyterHub for a class on one machine; README.md says how to start it. What can be set by environment
# variables is in the first lines; all else is here.
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys

from jupyterhub.spawner import LocalProcessSpawner, SimpleLocalProcessSpawner

c = get_config()  # noqa: F821

root = pathlib.Path(__file__).resolve().parent.parent
state = pathlib.Path(os.environ.get("ROUNDOFF_HUB_STATE", root / "out" / "hub"))
port = int(os.environ.get("ROUNDOFF_HUB_PORT", "8000"))  # and the next two, for the hub and its proxy
password = os.environ.get("ROUNDOFF_HUB_PASSWORD")  # one for all: a trial, without accounts
group = os.environ.get("ROUNDOFF_HUB_GROUP")  # of the accounts that may come; all may where it is not set

# Of each process of a student, and of all together: no student stops another's by a fork bomb.
limits = {resource.RLIMIT_DATA: 3 << 30, resource.RLIMIT_NPROC: 1024, resource.RLIMIT_CORE: 0}
gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)

state.mkdir(parents=True, exist_ok=True)
private = state / "private"  # what only the hub may read
private.mkdir(mode=0o700, exist_ok=True)
bin = pathlib.Path(sys.executable).parent

# Only this machine is listened to: a web server in front of it brings HTTPS and the outer address.
c.JupyterHub.bind_url = f"http://127.0.0.1:{port}"
c.JupyterHub.hub_port = port + 1
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{port + 2}"
c.ConfigurableHTTPProxy.command = [sys.executable, str(root / "deploy" / "proxy.py")]
c.ConfigurableHTTPProxy.pid_file = str(private / "proxy.pid")
c.JupyterHub.cookie_secret_file = str(private / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{private}/hub.sqlite"


class Spawner(SimpleLocalProcessSpawner if password else LocalProcessSpawner):
    """Ends a server by SIGTERM: SIGINT, which comes first otherwise, would leave its kernels behind. Starts
    the server of an account with limits."""

    async def _signal(self, sig):
        return await super()._signal(signal.SIGTERM if sig == signal.SIGINT else sig)

    def make_preexec_fn(self, name):
        become = super().make_preexec_fn(name)

        def begin():
            for limit, value in limits.items():
                resource.setrlimit(limit, (value, value))
            become()

        return become if password else begin  # in a trial the account is not the student's alone


c.JupyterHub.spawner_class = Spawner
if password:
    # Everybody who knows the password may come under any name, and all servers run as the one who
    # started the hub: no student is kept from the files of another.
    c.JupyterHub.authenticator_class = "shared-password"
    c.SharedPasswordAuthenticator.user_password = password
    c.SimpleLocalProcessSpawner.home_dir_template = str(state / "home" / "{username}")
else:
    # Students have accounts on this machine, and their servers run as themselves; the hub runs as root.
    c.JupyterHub.authenticator_class = "pam"
if group and not password:
    c.LocalAuthenticator.allowed_groups = {group}
else:
    c.Authenticator.allow_all = True
c.Authenticator.blocked_users = {"root"}

# A kernel for notebooks that lie in the homes of students, not in this repository. It and its compiler
# yield to the hub and to the servers, of which one that starts among twenty compiling kernels would have
# to wait for minutes: by nice, and where Linux shares the processor among sessions first, as their group.
kernel = json.loads((root / "tools" / "kernels" / "gonb" / "kernel.json").read_text())
run = "{ echo 10 >/proc/self/autogroup; } 2>/dev/null; " \
      f'ulimit -t 3600; PATH="{root}/.bin:$PATH" exec nice -n 10 gonb --kernel "$0" --raw_error "--go_work={root}"'
kernel["argv"] = ["/bin/sh", "-c", run, "{connection_file}"]
# The same for Python, whose package hub.sh or install.sh has put beside it.
yields = '{ echo 10 >/proc/self/autogroup; } 2>/dev/null; ulimit -t 3600; exec nice -n 10 "$0" -m ipykernel_launcher -f "$1"'
python = {"display_name": "Python 3 (ipykernel)", "language": "python",
          "argv": ["/bin/sh", "-c", yields, sys.executable, "{connection_file}"]}
# The server of a student needs nothing of nbgrader but the button that validates.
unused = ["nbgrader.server_extensions." + e for e in ("formgrader", "course_list", "assignment_list")]
server = {"ServerApp": {"jpserver_extensions": {e: False for e in [*unused, "jupyter_lsp"]}}}
for path, content in (("kernels/gonb/kernel.json", kernel), ("kernels/python3/kernel.json", python), ("config/jupyter_server_config.json", server)):
    file = state / "jupyter" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1))
os.umask(0o077)  # what the hub writes from here on, its database and keys, is its own


def go(variable):
    return subprocess.run(["go", "env", variable], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


c.Spawner.cmd = [str(root / "deploy" / "student.sh")]
c.Spawner.environment = {
    "JUPYTER_PATH": str(state / "jupyter"),
    "JUPYTER_CONFIG_PATH": str(state / "jupyter" / "config"),
    "PATH": f"{bin}:{go('GOROOT')}/bin:/usr/local/bin:/usr/bin:/bin",
    "GOMODCACHE": go("GOMODCACHE"),  # read, never written: the kernel asks no network
    "ROUNDOFF_RELEASE": os.environ.get("ROUNDOFF_RELEASE", str(root / "notebooks" / "assignments" / "release")),
    "ROUNDOFF_GOCACHE": str(state / "gocache"),
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}
c.Spawner.notebook_dir = "~"
c.Spawner.default_url = "/lab"
c.Spawner.args = [
    # Kernels idle for an hour are stopped, servers idle for two; files stay.
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--ServerApp.shutdown_no_activity_timeout=7200",
    # All can connect to a port of this machine, and what a kernel shows there asks for no key. A socket
    # in the student's home does.
    *([] if password else ["--KernelManager.transport=ipc"]),
    # A kernel starts with a compiler beside it: on a full machine that takes longer than the minute.
    "--MappingKernelManager.kernel_info_timeout=180",
]
if password and os.getuid() == 0:
    c.Spawner.args += ["--allow-root"]  # a trial, as root

# A whole class comes in the same minute. Two servers start in the time of one on two cores, so the
# others wait in a queue, not on the processor.
c.JupyterHub.concurrent_spawn_limit = 2 * (os.cpu_count() or 1)
c.JupyterHub.active_server_limit = max(4, int(4 * gigabytes))  # a server takes 160 MB, its kernel some too
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300
c.JupyterHub.init_spawners_timeout = 30
