#!/bin/sh
# Asks databases of vulnerabilities about all Go modules and Python packages that are pinned here. Exits with 1
# where one is known to be vulnerable, otherwise with 75 where something could not be asked. GOVULNDB and OSV_URL
# name other databases.
set -eu
cd "$(dirname "$0")/.."
status=0
mkdir -p out
log=out/audit.log

ask() { # what, how it begins that a database was not reached, command ...; fails where it was not
	what=$1 unreachable=$2
	shift 2
	if "$@" >$log 2>&1; then
		echo "audit: $what: no vulnerability is known"
	elif grep -q "^$unreachable" $log; then
		echo "audit: $what: NOT ASKED, no database was reached ($(grep "^$unreachable" $log | tail -n 1 | cut -c 1-200))" >&2
		skip
		return 1
	else
		cat $log >&2
		echo "audit: $what: FAILED" >&2
		status=1
	fi
}

skip() {
	[ $status = 1 ] || status=75
}

for module in . internal/asm tools; do
	packages=./...
	[ $module != tools ] || packages=tool
	ask "Go modules of $module/go.mod" 'govulncheck: fetching vulnerabilities: ' \
		go tool -modfile=tools/go.mod govulncheck -db "${GOVULNDB:-https://vuln.go.dev}" -C $module $packages || break
done
if lab/install.sh lab/audit.txt; then
	for list in lab/requirements lab/courses lab/browser lab/quantise lab/activations lab/network lab/citation lab/emulate lab/audit python/build python/test; do
		ask "Python packages of $list.txt" 'requests.exceptions.[A-Za-z]*: ' \
			.venv/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off --cache-dir .venv/audit \
			-s osv --osv-url "${OSV_URL:-https://api.osv.dev/v1/query}" -r $list.txt || break
	done
else
	[ $? = 75 ] && skip || status=1
fi
exit $status
