#!/bin/sh
# browser.sh TEST.py NOTEBOOK...: runs a test that drives the system's Chromium. Exits with 75, like
# install.sh, when that cannot be done on this machine.
set -eu
cd "$(dirname "$0")/.."
lab/install.sh lab/browser.txt
find='command -v chromium || command -v chromium-browser || command -v google-chrome'
.ci/packages "$find" chromium
CHROMIUM=$(sh -c "$find")
export CHROMIUM
. lab/env.sh
exec .venv/bin/python -u "$@"
