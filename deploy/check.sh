#!/bin/sh
# Has a student try to read what others have, which takes root, and sends a class of twenty to the hub, on
# loopback; neighbours.py and classroom.py say what they do, and values.py tries the hook for Kubernetes. Exits
# with 75 when there can be no hub on this machine.
set -eu
cd "$(dirname "$0")/.."
lab/install.sh courses
[ -d notebooks/assignments/release ] || [ -d out/course/release ] || notebooks/assignments/course.sh release
PATH="$PWD/.venv-courses/bin:$PATH"
python deploy/values.py
# Where one of these exits with 75 it has said why it cannot be tried.
{ .ci/packages "/usr/bin/python3 -c 'import ensurepip, venv'" python3-venv && timeout 1800 python deploy/neighbours.py; } ||
	[ $? = 75 ]
exec timeout 1200 python deploy/classroom.py "$@"
