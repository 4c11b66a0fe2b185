#!/bin/sh
# Opens JupyterLab on the folder named first; the other arguments are JupyterLab's. It need not look for language
# servers, a search that leaves traces in the home of a person who has npm: GoNB completes by itself.
set -eu
cd "$(dirname "$0")/.."
. lab/env.sh
[ "$(id -u)" != 0 ] || set -- "$@" --allow-root
folder=$PWD/$1
shift
exec .venv/bin/python -m jupyterlab --ServerApp.root_dir="$folder" \
	--LanguageServerManager.autodetect=False "$@"
