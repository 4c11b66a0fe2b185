#!/bin/sh
# Makes .venv: JupyterLab as pinned in requirements.txt, what other lists named name, and the Go kernel.
# With the argument courses it makes .venv-courses: nbgrader and JupyterHub besides, as pinned in courses.txt. With the
# argument citation it makes .venv-citation, what citation.txt pins and nothing else.
# Exits with 75 when that cannot be done on this machine, for want of Python or of its package index.
set -eu
cd "$(dirname "$0")/.."

fail() { # status, sentence
	echo "lab: $2" >&2
	exit "$1"
}

what=JupyterLab
case ${1:-} in
courses)
	venv=.venv-courses minor=11
	set -- lab/courses.txt
	;;
citation)
	venv=.venv-citation minor=10 what="The check of citations"
	set -- lab/citation.txt
	;;
*)
	venv=.venv minor=10
	set -- lab/requirements.txt "$@"
	;;
esac
python=${PYTHON:-python3}
command -v "$python" >/dev/null || fail 75 "$what needs Python 3.$minor or newer, and there is no $python."
"$python" -c "import sys; sys.exit(sys.version_info < (3, $minor))" ||
	fail 75 "$what needs Python 3.$minor or newer, this is $("$python" --version)."

packages() { # list: installs what it names, and keeps a copy of it when all of it is there
	! cmp -s "$1" "$venv/${1##*/}" || return 0
	# A package that would have to be built would run code of its own to be installed: none has to be.
	# A list has all that its packages need.
	"$venv/bin/python" -m pip install --require-hashes --no-deps --only-binary :all: --no-cache-dir --no-input --disable-pip-version-check \
		-r "$1" >"$venv/pip.log" 2>&1 || {
		grep -qE 'Retrying \(Retry|Max retries exceeded|ConnectionError|ConnectTimeout|ReadTimeout' "$venv/pip.log" &&
			fail 75 "$1 is not installed, because Python's package index cannot be reached ($venv/pip.log has the details)."
		tail -n 5 "$venv/pip.log" >&2
		fail 1 "$1 could not be installed ($venv/pip.log has all that pip said)."
	}
	cp "$1" "$venv/"
}

if ! cmp -s "$1" "$venv/${1##*/}"; then
	[ -w . ] || fail 1 "$PWD cannot be written, where $venv is to be."
	rm -rf "$venv"
	"$python" -m venv "$venv" >/dev/null 2>&1 || {
		rm -rf "$venv"
		fail 75 "$python cannot make a virtual environment; its module venv or ensurepip is missing (Debian's python3-venv)."
	}
	[ $venv = .venv-citation ] || echo "lab: installing JupyterLab into $venv, about a hundred packages and a minute"
fi
for list; do
	packages "$list"
done
[ $venv != .venv-citation ] || exit 0

mkdir -p "$venv/share/jupyter/kernels/gonb"
cp tools/kernels/gonb/kernel.json "$venv/share/jupyter/kernels/gonb/"

# JupyterLab does not ask other hosts for news of itself, and waits for the first completion, before which
# gopls reads the packages, longer than its one second.
mkdir -p "$venv/share/jupyter/lab/settings"
echo '{"@jupyterlab/completer-extension:manager": {"providerTimeout": 60000}}' \
	>"$venv/share/jupyter/lab/settings/overrides.json"
echo '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}' \
	>"$venv/share/jupyter/lab/settings/page_config.json"
