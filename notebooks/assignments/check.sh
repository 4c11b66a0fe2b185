#!/bin/sh
# Hands made-up answers through nbgrader and compares their scores, and then hostile ones; roundtrip.py and
# crowd.py say which. Exits with 75 when nothing can be graded on this machine.
set -eu
cd "$(dirname "$0")/../.."
lab/install.sh courses
PATH="$PWD/.venv-courses/bin:$PATH"
timeout 1200 python notebooks/assignments/roundtrip.py "$@"
[ $# = 0 ] || exit 0
(cd notebooks/assignments && timeout 300 python -m unittest sandbox_test)
exec timeout 1800 python notebooks/assignments/crowd.py
