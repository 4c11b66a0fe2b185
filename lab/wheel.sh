#!/bin/sh
# Builds the wheel of python/ into dist (build), tests it in a fresh environment of every Python from 3.10 up that this
# machine has (check; with the argument few all of it on the newest alone), with networks of other frameworks and the
# notebooks for Python on the newest of them (emulate; with the argument store it stores what these notebooks show),
# measures it (bench), or installs it in an environment (install DIR). A wheel that is there is built again if what it is
# made of has changed. Exits with 75 when that cannot be done on this machine, for want of Python, of a C compiler, or of
# Python's package index.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
made=out/wheel

fail() { # status, sentence
	echo "wheel: $2" >&2
	exit "$1"
}

pythons() { # of every version the first that can make environments, the oldest first
	for minor in 10 11 12 13 14 15; do
		found=
		for python in "python3.$minor" "/usr/local/bin/python3.$minor" "/usr/bin/python3.$minor" "$HOME/.pyenv/versions/3.$minor".*/bin/python3; do
			if "$python" -c "import ensurepip, sys, venv; sys.exit(sys.version_info[:2] != (3, $minor))" >/dev/null 2>&1; then
				echo "$python"
				found=1
				break
			fi
		done
		[ -n "$found" ] || echo "wheel: there is no Python 3.$minor here" >&2
	done
}

environment() { # Python, folder, list: makes an environment with what the list pins
	rm -rf "$2"
	"$1" -m venv "$2" >/dev/null 2>&1 || fail 75 "$1 cannot make a virtual environment."
	"$2/bin/python" -m pip install --require-hashes --only-binary :all: --no-input --disable-pip-version-check -r "$3" >"$2/pip.log" 2>&1 || {
		grep -qE 'Retrying \(Retry|Max retries exceeded|ConnectionError|ConnectTimeout|ReadTimeout' "$2/pip.log" &&
			fail 75 "$3 is not installed, because Python's package index cannot be reached ($2/pip.log has the details)."
		tail -n 5 "$2/pip.log" >&2
		fail 1 "$3 could not be installed ($2/pip.log has all that pip said)."
	}
}

sources() { # a checksum of what the wheel is made of
	git ls-files -z --cached --others --exclude-standard -- go.mod go.sum cmd/libroundoff internal pkg python |
		grep -zv '_test\.go$' | sort -z | xargs -0 cat | cksum
}

build() {
	for tool in "${CC:-cc}" objdump; do
		command -v "$tool" >/dev/null || fail 75 "the library needs cgo and its tag objdump, and there is no $tool."
	done
	python=$(pythons 2>/dev/null | tail -n 1)
	[ -n "$python" ] || fail 75 "there is no Python from 3.10 up with venv and ensurepip."
	mkdir -p "$made"
	exec 9>"$made/lock" # of two that build it at the same time one waits, and finds it built
	! command -v flock >/dev/null || flock 9
	of=$(sources)
	if [ "$(cat dist/made-of.txt 2>/dev/null)" = "$of" ]; then
		echo "$(echo dist/roundoff-*.whl) is there"
		exec 9>&-
		return
	fi
	cmp -s python/build.txt "$made/build/made-of.txt" || {
		environment "$python" "$made/build" python/build.txt
		cp python/build.txt "$made/build/made-of.txt"
	}
	rm -rf dist
	"$made/build/bin/python" -m pip wheel --no-build-isolation --no-deps --no-index --disable-pip-version-check -q -w dist ./python
	wheel=$(echo dist/roundoff-*.whl)
	# What auditwheel says may be older than the tag, and must not be newer.
	"$made/build/bin/python" python/tag_test.py "$wheel"
	echo "$of" >dist/made-of.txt
	exec 9>&-
	echo "$wheel, $(wc -c <"$wheel") bytes"
}

check() { # few: all on the newest, on the others what depends on Python
	build
	wheel=$PWD/$(echo dist/roundoff-*.whl)
	tried=0
	vectors=${ROUNDOFF_VECTORS:-$PWD/../shared/vectors}
	newest=$(pythons 2>/dev/null | tail -n 1)
	for python in $(pythons); do
		version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
		environment "$python" "$made/$version" python/test.txt
		"$made/$version/bin/python" -m pip install --no-deps --no-index --no-input --disable-pip-version-check -q "$wheel"
		echo "wheel: Python $version"
		tests="discover -q" all=$vectors
		[ "$python" = "$newest" ] || all= # a minute, of what is the same library
		[ "$python" = "$newest" ] || [ "${1:-}" != few ] || tests="-q test_arrays test_documents test_processes.Processes"
		(cd python/tests && ROUNDOFF=$root/.bin/roundoff VECTORS=$all \
			"$root/$made/$version/bin/python" -W error::ResourceWarning -m unittest $tests)
		tried=$((tried + 1))
	done
	[ $tried -gt 0 ] || fail 75 "there is no Python from 3.10 up with venv and ensurepip."
	echo "wheel: tested on $tried versions of Python"
}

install() { # environment
	build
	! cmp -s dist/made-of.txt "$1/wheel-of.txt" || return 0
	"$1/bin/python" -m pip install --no-deps --no-index --no-input --disable-pip-version-check --force-reinstall -q dist/roundoff-*.whl
	cp dist/made-of.txt "$1/wheel-of.txt"
}

emulate() {
	build
	python=$(pythons 2>/dev/null | tail -n 1)
	[ -n "$python" ] || fail 75 "there is no Python from 3.10 up with venv and ensurepip."
	environment "$python" "$made/emulate" lab/emulate.txt
	"$made/emulate/bin/python" -m pip install --no-deps --no-index --no-input --disable-pip-version-check -q dist/roundoff-*.whl
	if [ "${1:-}" != store ]; then
		ROUNDOFF=$PWD/.bin/roundoff FRAMEWORKS=jax,onnx \
			"$made/emulate/bin/python" -m unittest discover -q -s python/tests -t python/tests -p 'test_emulate*.py'
	fi
	"$made/emulate/bin/python" lab/python_notebook.py "${1:-check}" notebooks/python/*.ipynb
}

bench() {
	build
	python=$(pythons 2>/dev/null | tail -n 1)
	environment "$python" "$made/bench" python/test.txt
	"$made/bench/bin/python" -m pip install --no-deps --no-index --no-input --disable-pip-version-check -q dist/roundoff-*.whl
	"$made/bench/bin/python" python/tests/bench.py dist/roundoff-*.whl
	echo
	"$made/bench/bin/python" python/tests/bench_cluster.py
}

case ${1:-} in
build | bench) "$1" ;;
check) check "${2:-}" ;;
emulate) emulate "${2:-}" ;;
install) install "${2:?an environment}" ;;
*) fail 2 "want build, check, emulate, bench or install" ;;
esac
