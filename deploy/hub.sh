#!/bin/sh
# Starts JupyterHub on this machine, after all that students need is installed and compiled. See
# README.md. Exits with 75, like lab/install.sh, when that cannot be done on this machine.
set -eu
umask 022 # students read what is compiled; what they may not read says so itself
cd "$(dirname "$0")/.."
lab/install.sh courses
[ ! -d python ] || lab/wheel.sh install .venv-courses # where install.sh was, it has done that
# Where install.sh installed this, students read the modules that it fetched.
[ ! -d .modules ] || export GOMODCACHE="$PWD/.modules"
state=${ROUNDOFF_HUB_STATE:-$PWD/out/hub}
mkdir -p "$state"
[ -n "${ROUNDOFF_HUB_PASSWORD:-}" ] || [ "$(id -u)" = 0 ] || {
	echo "hub: students with accounts need a hub that root starts; ROUNDOFF_HUB_PASSWORD starts a trial" >&2
	exit 2
}
# Students' servers begin with this copy of the compiler's cache, and it with what grading has compiled.
[ -d "$state/gocache" ] || [ ! -d out/grading/go ] || cp -R out/grading/go "$state/gocache"
GOCACHE="$state/gocache" go build -buildvcs=false ./pkg/... ./cmd/roundoff
exec .venv-courses/bin/jupyterhub --config="$PWD/deploy/jupyterhub_config.py" "$@"
