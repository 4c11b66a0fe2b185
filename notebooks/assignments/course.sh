#!/bin/sh
# The course from the command line, with nbgrader in .venv-courses:
#
#	course.sh release          the student versions of all assignments, in release/
#	course.sh grade [FLAGS]    the autograder on all that is in submitted/, and a table of the scores
#
# The flags are nbgrader's; --force grades again what was graded before. COURSE names another folder
# for all but the sources. Exits with 75 when there can be no .venv-courses on this machine.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
lab/install.sh courses
venv=.venv-courses
. lab/env.sh
PATH="$PWD/$venv/bin:$PATH"
course=${COURSE:-$here} # inside the repository, where the kernel finds its go.mod
cd "$here"
nbgrader() { # its arguments; it logs a line for every file, which is shown when it fails
	python -m nbgrader "$@" --course-dir="$course" --CourseDirectory.source_directory="$here/source" \
		>"$course/nbgrader.log" 2>&1 || { cat "$course/nbgrader.log" >&2; return 1; }
}

case ${1:-} in
release)
	for assignment in source/*/; do
		assignment=$(basename "$assignment")
		nbgrader generate_assignment "$assignment" --force
		echo "course: $course/release/$assignment"
	done
	;;
grade)
	shift
	failed=0
	for assignment in source/*/; do
		assignment=$(basename "$assignment")
		ls -d "$course"/submitted/*/"$assignment" >/dev/null 2>&1 || continue
		nbgrader autograde "$assignment" "$@" || failed=1
	done
	python scores.py "$course"
	exit "$failed"
	;;
*)
	echo "course.sh: release or grade, not '${1:-}'" >&2
	exit 2
	;;
esac
