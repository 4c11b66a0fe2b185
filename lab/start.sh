#!/bin/sh
# Opens JupyterLab on the notebooks; the arguments are JupyterLab's. It need not look for language
# servers, a search that leaves traces in the home of a person who has npm: GoNB completes by itself.
set -eu
cd "$(dirname "$0")/.."
. lab/env.sh
[ "$(id -u)" != 0 ] || set -- --allow-root "$@"
exec .venv/bin/python -m jupyterlab --ServerApp.root_dir="$PWD/notebooks" \
	--LanguageServerManager.autodetect=False "$@"
