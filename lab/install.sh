#!/bin/sh
# Makes .venv: JupyterLab as pinned in requirements.txt, and the Go kernel. With the argument courses it
# makes .venv-courses instead: nbgrader and JupyterHub besides, as pinned in courses.txt.
# Exits with 75 when that cannot be done on this machine, for want of Python or of its package index.
set -eu
cd "$(dirname "$0")/.."

fail() { # status, sentence
	echo "lab: $2" >&2
	exit "$1"
}

list=lab/${1:-requirements}.txt venv=.venv${1:+-$1} minor=$([ "${1:-}" = courses ] && echo 11 || echo 10)
python=${PYTHON:-python3}
command -v "$python" >/dev/null || fail 75 "JupyterLab needs Python 3.$minor or newer, and there is no $python."
"$python" -c "import sys; sys.exit(sys.version_info < (3, $minor))" ||
	fail 75 "JupyterLab needs Python 3.$minor or newer, this is $("$python" --version)."

installed=$venv/requirements.txt # a copy of the list, once all of it is installed
if ! cmp -s "$list" "$installed"; then
	rm -rf "$venv"
	"$python" -m venv "$venv" >/dev/null 2>&1 || {
		rm -rf "$venv"
		fail 75 "$python cannot make a virtual environment; its module venv or ensurepip is missing (Debian's python3-venv)."
	}
	echo "lab: installing JupyterLab into $venv, about a hundred packages and a minute"
	"$venv/bin/python" -m pip install --require-hashes --no-cache-dir --no-input --disable-pip-version-check \
		-r "$list" >"$venv/pip.log" 2>&1 || {
		grep -qE 'Retrying \(Retry|Max retries exceeded|ConnectionError|ConnectTimeout|ReadTimeout' "$venv/pip.log" &&
			fail 75 "JupyterLab is not installed, because Python's package index cannot be reached ($venv/pip.log has the details)."
		tail -n 5 "$venv/pip.log" >&2
		fail 1 "JupyterLab could not be installed ($venv/pip.log has all that pip said)."
	}
	cp "$list" "$installed"
fi

mkdir -p "$venv/share/jupyter/kernels/gonb"
cp tools/kernels/gonb/kernel.json "$venv/share/jupyter/kernels/gonb/"

# JupyterLab does not ask other hosts for news of itself.
mkdir -p "$venv/share/jupyter/lab/settings"
echo '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}' \
	>"$venv/share/jupyter/lab/settings/page_config.json"
