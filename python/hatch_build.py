"""Builds the library of Go into the wheel, and gives it the tag of the systems that can open it."""

import os
import platform
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "_libroundoff.so"


class Build(BuildHookInterface):
    def initialize(self, version, build_data):
        root = Path(self.root)
        made = root.parent / "out" / "wheel"
        made.mkdir(parents=True, exist_ok=True)
        library, notices = made / NAME, made / "NOTICES"
        go = ["go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w", "-o", str(library), "./cmd/libroundoff"]
        old = {**os.environ, "GOWORK": "off", "CGO_ENABLED": "1", "GOAMD64": "v1", "GOARM64": "v8.0"}
        subprocess.run(go, cwd=root.parent, check=True, env=old)
        notices.write_text(licences(root.parent), encoding="utf-8")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{system(library)}"
        build_data["force_include"][str(library)] = f"roundoff/{NAME}"
        build_data["force_include"][str(notices)] = "roundoff/NOTICES"
        build_data["force_include"][str(root.parent / "LICENSE")] = "roundoff/LICENSE"


def system(library):
    """Returns the system in the tag: on Linux with glibc that of the newest symbol which the library asks of it.

    Of the ways to an older one, such as an old system in a container or another linker, none was easier than to say what
    is true: cgo asks for pthread_create, which glibc has under a new version since 2.34.
    """
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    symbols = subprocess.run(["objdump", "-T", str(library)], check=True, capture_output=True, text=True).stdout
    needs = [tuple(map(int, v.split("."))) for v in re.findall(r"\(?GLIBC_([0-9.]+)", symbols)]
    major, minor = max(needs)[:2]
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def licences(root):
    """Returns the licences of Go and of the modules in the library, which ask to be passed on with it."""

    def go(*arguments):
        return subprocess.run(["go", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()

    modules = {("Go " + go("env", "GOVERSION"), go("env", "GOROOT"))}
    for line in go("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/libroundoff").splitlines():
        if line:
            modules.add(tuple(line.split("\t")))
    parts = []
    for name, folder in sorted(modules):
        files = sorted(f for f in Path(folder).iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice)", f.name) and f.is_file())
        if not files:
            raise FileNotFoundError(f"{folder} has no licence of {name}")
        parts += [f"{name}, {f.name}\n\n{f.read_text(encoding='utf-8', errors='replace').strip()}\n" for f in files]
    return "What the library contains of others, and under which licences.\n\n" + "\n\n".join(parts)
