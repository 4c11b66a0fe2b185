"""Runs what students wrote where it can reach nothing: threats.md says what that means, and why.

A command sees the files that it is given, read-only, and folders of its own in memory, no network, no
process but its own, and nobody else's environment. It ends with all that it started when it is over, or
takes too long, too much memory or too many processes. This is bubblewrap's work, by namespaces of Linux.
"""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time

megabyte = 1 << 20
limits = {"memory": 3072 * megabyte, "files": 1024 * megabyte, "threads": 400, "output": 64 * megabyte}


running = set()  # the processes of sandboxes, for whoever has to end them


class Missing(Exception):
    """There is no sandbox on this machine, for the reason given."""


def program():
    """bubblewrap, after it has shown that it works here."""
    found = shutil.which("bwrap")
    if found is None:
        raise Missing("grading needs bubblewrap, in which it runs what students wrote (Debian's package bubblewrap)")
    trial = subprocess.run([found, *isolation, "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    if trial.returncode != 0:
        raise Missing(f"bubblewrap does not work on this machine, which has to allow user namespaces: {trial.stderr.strip()}")
    return found


isolation = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
             "--cap-drop", "ALL", "--hostname", "grading", "--uid", "1000", "--gid", "1000"]


def system():
    """The system's programs and libraries, as arguments of bubblewrap."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = pathlib.Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    for name in ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"):
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return arguments


def command(bwrap, shown, environment, arguments):
    """The command line that runs the arguments with the environment, and shows them the paths: a mapping
    from where they see a path to where it is."""
    line = [bwrap, *isolation, *system(), "--proc", "/proc", "--dev", "/dev", "--size", str(limits["files"]),
            "--tmpfs", "/tmp", "--dir", "/tmp/home", "--chdir", "/tmp/home"]
    for seen, path in shown.items():
        if not pathlib.Path(seen).is_relative_to("/usr"):
            line += ["--ro-bind", str(path), str(seen)]
    for name, value in environment.items():
        line += ["--setenv", name, str(value)]
    return [*line, *map(str, arguments)]


class Group:
    """The processes of a sandbox: what they have in common, and what they take."""

    def __init__(self, init):
        self.namespace = os.readlink(f"/proc/{init}/ns/pid")

    def usage(self):
        """The memory and the threads of all processes of the sandbox."""
        memory = threads = 0
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                if os.readlink(f"/proc/{entry.name}/ns/pid") != self.namespace:
                    continue
                memory += int(pathlib.Path("/proc", entry.name, "statm").read_text().split()[1]) * resource.getpagesize()
                threads += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:  # it has ended, or is another person's
                continue
        return memory, threads


def cgroup():
    """A control group of its own for the sandbox, if this user may make one: a bound on processes that
    not even a fork bomb outruns. None otherwise; then the sandbox is watched all the same."""
    base = pathlib.Path("/sys/fs/cgroup")
    for parent in (base / "pids", base):
        if (parent / "cgroup.procs").exists():
            for stale in parent.glob("roundoff-grading-*"):
                try:
                    if not pathlib.Path("/proc", stale.name.split("-")[2]).exists():  # grading was killed
                        stale.rmdir()
                except OSError:
                    pass  # somebody else has removed it
            group = parent / f"roundoff-grading-{os.getpid()}-{threading.get_ident()}"
            try:
                group.mkdir()
                (group / "pids.max").write_text(str(limits["threads"] * 5 // 4))
                return group
            except OSError:
                if group.is_dir():
                    group.rmdir()
    return None


def limited(group, line):
    """The line, in the group and with limits that the kernel keeps. A shell sets them, since nothing of this
    program may run between fork and exec while it has threads."""
    begin = f'set -e; ulimit -c 0; ulimit -f {limits["files"] // 512}; [ -z "$0" ] || echo $$ >"$0/cgroup.procs"; exec "$@"'
    return ["/bin/sh", "-c", begin, str(group or ""), *line]


def run(line, given, seconds):
    """Runs a line of command() with the bytes given as its input. Returns its output, and why it was
    ended, "" if it ended by itself."""
    status, child = os.pipe()
    line = [line[0], "--json-status-fd", str(child), *line[1:]]
    group = cgroup()
    line = limited(group, line)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, pass_fds=[child],
                                   env={})
        running.add(process)
        os.close(child)
        output, why = bytearray(), ""

        def give():
            try:
                with process.stdin:
                    process.stdin.write(given)
            except OSError:
                pass  # it does not read

        def take():
            while block := process.stdout.read1(megabyte):
                if len(output) <= limits["output"]:
                    output.extend(block)

        helpers = [threading.Thread(target=f, daemon=True) for f in (give, take)]
        for helper in helpers:
            helper.start()
        try:
            with os.fdopen(status) as lines:
                why = watch(process, lines.readline(), seconds, output)
        finally:
            process.kill()  # and so the first process of the sandbox, and so all of them
            process.wait()
            running.discard(process)
            for helper in helpers:
                helper.join()
            process.stdout.close()
            if group is not None:
                remove(group)
        errors.seek(0)
        said = errors.read(4096).decode(errors="replace").strip()
    if not why and process.returncode not in (0, -signal.SIGKILL) and not output:
        why = f"it ended with status {process.returncode}: {(said.splitlines() or ['it does not say why'])[-1]}"
    return bytes(output), why


def watch(process, status, seconds, output):
    """Waits for the process, and returns why it has to be ended before, "" if it has not."""
    try:
        processes = Group(json.loads(status)["child-pid"])
    except (ValueError, KeyError, OSError):
        process.wait()
        return ""
    end = time.monotonic() + seconds
    while process.poll() is None:
        memory, threads = processes.usage()
        if time.monotonic() > end:
            return f"it took longer than {seconds} s"
        if memory > limits["memory"]:
            return f"it took more than {limits['memory'] // megabyte} MB"
        if threads > limits["threads"]:
            return f"it had more than {limits['threads']} threads"
        if len(output) > limits["output"]:
            return f"it showed more than {limits['output'] // megabyte} MB"
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            pass
    return ""


def remove(group):
    """Removes a control group once its last process is reaped."""
    for _ in range(100):
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.05)
