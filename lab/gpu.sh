#!/usr/bin/env bash
# Asks an NVIDIA GPU all that this project wants to know of one, in under 25 minutes of its time:
#
#	lab/gpu.sh ROUNDOFF DIR [STEP ...]
#
# ROUNDOFF is the program, built before (go build ./cmd/roundoff: it needs nothing else here), DIR takes what each
# step prints (STEP.txt, with its status and its seconds at the end) and the files that it writes, STEPs are some of
#
#	info verify library probe record experiment speed more
#
# and all in this order if none is named, so that what matters most is there if time runs out. A step that fails or
# takes longer than its limit is told and the next is begun. Exits with 3 where there is no GPU, with 1 where a step
# failed, and with 2 where the arguments are wrong. QUICK=hopper asks little, and the emulation of that architecture
# where kernels would have to run, for a test of the script on a fake of NVIDIA's libraries; LIMIT is what no step
# may exceed, in seconds.
set -uo pipefail

steps=(info verify library probe record experiment speed more)
if [[ $# -lt 2 ]]; then
	echo "usage: $0 ROUNDOFF DIR [STEP ...], with STEP one of ${steps[*]}" >&2
	exit 2
fi
program=$1 dir=$2
shift 2
[[ -x $program && ! -d $program ]] || { echo "$0: no program $program: go build -o $program ./cmd/roundoff" >&2; exit 2; }
for step; do
	[[ " ${steps[*]} " == *" $step "* ]] || { echo "$0: no step $step, want one of ${steps[*]}" >&2; exit 2; }
done
[[ $# -gt 0 ]] && steps=("$@")
mkdir -p "$dir" || exit 2

seconds=120 again=50 rows=1000000 passes=10 size=8192 keep=5000 at_most=${LIMIT:-600} experiment=() on=() products=(--seconds 100)
if [[ -n ${QUICK:-} ]]; then
	seconds=1 again=1 rows=200 passes=1 size=64 keep=100 on=(--emulate "$QUICK") products=(--shapes 8x16x64,1x32x200)
	experiment=(--m 8 --k 32 --n 8 --elements 1000)
fi

failed=0
ask() { # step, limit in seconds, arguments of roundoff gpu ...
	local step=$1 limit=$(($2 < at_most ? $2 : at_most)) start=$SECONDS status=0 out=$dir/$1.txt size
	shift 2
	echo "=== $step: roundoff gpu $*"
	echo "roundoff gpu $*" >>"$out"
	size=$(wc -c <"$out")
	timeout --kill-after=5 "$limit" "$program" gpu "$@" >>"$out" 2>&1 || status=$?
	if [[ $status -eq 0 && $(wc -c <"$out") -eq $size ]]; then # a library that ends the program
		echo "it printed nothing" >>"$out"
		status=1
	fi
	echo "status $status, $((SECONDS - start)) s" >>"$out"
	tail -n 3 "$out"
	[[ $status -eq 0 ]] || failed=1
	return $status
}

# Limits, in seconds: 20 + 180 + 130 + 150 + 420 + 240 + 240 + 100 = 1480 of 1500.
for step in "${steps[@]}"; do
	rm -f "$dir/$step.txt"
	case $step in
	info)
		ask info 20 info
		status=$?
		[[ $status -ne 3 ]] || exit 3
		;;
	verify) ask verify 180 verify "${on[@]}" --seconds $seconds ;;
	library) ask library 130 verify --library "${products[@]}" ;; # what cuBLASLt returns, against plans of its configurations
	probe) ask probe 150 probe "${on[@]}" ;;
	record) # few rows to keep, then many, of which sums and seed are kept
		ask record 60 record "${on[@]}" --rows $keep --seed 1 "$dir/vectors"
		ask record 360 record "${on[@]}" --rows $rows --seed 2 "$dir/many" &&
			for file in "$dir"/many/*.tcv.gz; do # of the rows, not of how they are compressed
				name=${file##*/}
				echo "$(gunzip -c -- "$file" | sha256sum | cut -c1-64)  ${name%.gz}"
			done >"$dir/many.sha256"
		;;
	experiment) ask experiment 240 experiment "${experiment[@]}" "$dir/recorded" ;;
	speed) ask speed 240 speed --n $size --passes $passes ;;
	more) # other seeds, other draws
		ask more 100 verify "${on[@]}" --seconds $again --seed 2
		;;
	esac
done
[[ $failed -eq 0 ]] && echo "all steps passed; $dir has what they printed"
exit $failed
