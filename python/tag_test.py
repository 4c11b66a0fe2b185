"""Compares the tag of a wheel with what auditwheel finds: the wheel may not promise an older glibc than its library needs."""

import re
import subprocess
import sys
from pathlib import Path


def main(wheel):
    tag = re.search(r"-py3-none-(\w+)\.whl$", wheel).group(1)
    if not tag.startswith("manylinux"):
        print(f"{tag} is no tag that auditwheel knows")
        return
    run = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], check=True, capture_output=True, text=True)
    said = " ".join(run.stdout.split())
    found = re.search(r'consistent with the following platform tag: "(manylinux_\w+)"', said)
    if not found:
        sys.exit(f"auditwheel names no tag of {Path(wheel).name}: {said}")
    version = lambda t: tuple(map(int, re.match(r"manylinux_(\d+)_(\d+)_", t).groups()))
    if version(found.group(1)) > version(tag):
        sys.exit(f"{Path(wheel).name} has the tag {tag}, and auditwheel says {found.group(1)}")
    print(f"auditwheel: {found.group(1)}, the tag is {tag}")


main(sys.argv[1])
