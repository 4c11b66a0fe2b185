#!/bin/sh
# Hands made-up answers through nbgrader and compares their scores, and then hostile ones; roundtrip.py and
# crowd.py say which, and which few if that is the argument. With names of assignments it hands in only those, and
# no hostile ones. Exits with 75 when nothing can be graded on this machine.
set -eu
cd "$(dirname "$0")/../.."
lab/install.sh courses
PATH="$PWD/.venv-courses/bin:$PATH"
timeout 2400 python notebooks/assignments/roundtrip.py "$@"
[ "${*:-few}" = few ] || exit 0
(cd notebooks/assignments && timeout 300 python -m unittest sandbox_test)
exec timeout 3600 python notebooks/assignments/crowd.py "$@"
