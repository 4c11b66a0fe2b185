#!/bin/sh
# The course from the command line, with nbgrader in .venv-courses:
#
#	course.sh release          the student versions of all assignments, in release/
#	course.sh grade [FLAGS]    the autograder on all that is in submitted/, and a table of the scores
#	course.sh read [FLAGS]     JupyterLab, where Nbgrader > Formgrader shows essays and takes scores
#	course.sh feedback [FLAGS] a page for every submission that is graded, in feedback/
#
# The flags are nbgrader's and JupyterLab's; with --force what was graded before is graded again. COURSE
# names another folder for all but the sources. Exits with 75 when there can be no .venv-courses here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
lab/install.sh courses
lab/wheel.sh install .venv-courses # for answers in Python
venv=.venv-courses
. lab/env.sh
PATH="$PWD/$venv/bin:$PATH"
course=${COURSE:-$here} # inside the repository, where the kernel finds its go.mod
cd "$here"
log=$course/nbgrader.log
nbgrader() { # command, assignment, flags; the kernels' logs are long, so only errors are shown
	echo "course: $1 $2" >"$log.new"
	python -m nbgrader "$@" --course-dir="$course" --CourseDirectory.source_directory="$here/source" \
		>>"$log.new" 2>&1 && status=0 || status=1
	cat "$log.new" >>"$log"
	[ "$status" = 0 ] || {
		grep -E '\| (ERROR|CRITICAL)\]|^[A-Za-z.]*(Error|Exception):' "$log.new" >&2
		echo "course: $1 $2 failed; $log has the details" >&2
	}
	rm "$log.new"
	return "$status"
}

case ${1:-} in
release)
	exec python release.py "$course"
	;;
grade)
	shift
	exec python grade.py "$course" "$@"
	;;
read)
	shift
	[ "$(id -u)" != 0 ] || set -- --allow-root "$@"
	exec python -m jupyterlab --ServerApp.root_dir="$course" --LanguageServerManager.autodetect=False "$@"
	;;
feedback)
	shift
	student= # who is meant, or everybody
	for flag; do
		case $flag in --student=*) student=${flag#--student=} ;; esac
	done
	for assignment in source/*/; do
		assignment=$(basename "$assignment")
		if [ -n "$student" ]; then
			[ -e "$course/autograded/$student/$assignment" ] || continue
		else
			ls -d "$course"/autograded/*/"$assignment" >/dev/null 2>&1 || continue
		fi
		nbgrader generate_feedback "$assignment" --force "$@"
	done
	echo "course: $course/feedback"
	;;
*)
	echo "course.sh: release, grade, read or feedback, not '${1:-}'" >&2
	exit 2
	;;
esac
