#!/bin/sh
# Starts the server of a student, as the student: copies new assignments into the home folder, leaving
# alone what is there, and on the first day what Go has compiled, so that no cell waits for a compiler
# that compiles all packages. The arguments are those of jupyterhub-singleuser.
set -eu
umask 077 # nobody reads another's work, whatever the machine's default is
chmod 700 "$HOME"
cd "$HOME"
if [ -d "${ROUNDOFF_RELEASE:-}" ]; then
	for assignment in "$ROUNDOFF_RELEASE"/*/; do
		name=$(basename "$assignment")
		[ -e "$name" ] || cp -R "$assignment" "$name"
	done
fi
export JUPYTER_RUNTIME_DIR="$HOME/.run" # short: the name of a kernel's socket has 107 letters at most
export GOCACHE="$HOME/.cache/go-build" GOPATH="$HOME/.go"
if [ -d "${ROUNDOFF_GOCACHE:-}" ] && [ ! -e "$GOCACHE" ]; then
	mkdir -p "$HOME/.cache"
	cp -R "$ROUNDOFF_GOCACHE" "$GOCACHE.new.$$"
	mv "$GOCACHE.new.$$" "$GOCACHE"
fi
exec jupyterhub-singleuser "$@"
