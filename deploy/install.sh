#!/bin/sh
# install.sh DEST: installs what a hub needs where students can read it, as root; again to renew it.
# What goes into the image (.dockerignore) goes there, deploy/, and what is built of them: no source of an
# assignment, no history, nothing that was handed in. Exits with 75 like lab/install.sh.
set -eu
umask 022
cd "$(dirname "$0")/.."

fail() {
	echo "install: $1" >&2
	exit "${2:-1}"
}

[ $# = 1 ] || fail "usage: deploy/install.sh DEST" 2
release=${COURSE:-notebooks/assignments}/release
[ -d "$release" ] || fail "no assignment is released; \`make assignments\` comes first"
! grep -rlE 'BEGIN (SOLUTION|HIDDEN TESTS)' "$release" ||
	fail "these hold solutions or hidden tests, and are not for students"
case $1 in /*) dest=$1 ;; *) fail "DEST is a path from the root, not $1" 2 ;; esac
[ ! -e "$dest/.git" ] || fail "$dest is a clone; its history holds the solutions"
[ -z "$(ls -A "$dest" 2>/dev/null)" ] || [ -f "$dest/deploy/hub.sh" ] || fail "$dest is there and is no hub"
make -s tools
lab/wheel.sh build
wheel=$(echo "$PWD"/dist/roundoff-*.whl)

list="$(sed -n 's/^!//p' .dockerignore) deploy"
without=$(sed -n 's/^[^#*!]/:!&/p' .dockerignore)
mkdir -p "$dest"
for name in $list; do
	rm -rf "${dest:?}/$name"
done
set -f # git matches the patterns
# shellcheck disable=SC2086 # there are no blanks in them
git ls-files -z -- $list $without | tar --null -T - -cf - .bin/gonb .bin/goimports .bin/gopls |
	tar --no-same-owner -xf - -C "$dest"
set +f
mkdir "$dest/notebooks/assignments"
cp -R "$release" "$dest/notebooks/assignments/release"
for name in $list .bin; do
	chmod -R go=rX "$dest/$name"
done

# What this machine has of the modules is not asked of the network; go.sum says what they must be.
modules=$(go env GOMODCACHE)
cd "$dest"
GOPROXY="file://$modules/cache/download,$(go env GOPROXY)" GOMODCACHE="$dest/.modules" make -s modules
# A Python in the home of a person is closed to all others.
PYTHON=${PYTHON:-/usr/bin/python3} lab/install.sh courses
.venv-courses/bin/python -m pip install --no-deps --no-index --no-input --disable-pip-version-check --force-reinstall -q "$wheel"
for program in .bin/gonb .venv-courses/bin/python "$(go env GOROOT)/bin/go"; do
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$program" ||
		fail "students cannot run $program: they need the right to read it and every folder above it"
done
echo "install: $dest/deploy/hub.sh starts the hub"
