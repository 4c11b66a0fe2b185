#!/bin/sh
# Computes one shard of a sweep: which one the scheduler says, of how many SHARDS does, into the folder
# RESULTS. Started again it goes on with what is there. The arguments are those of roundoff sweep.
#
#	SHARDS=16 RESULTS=results sbatch --array=1-16 deploy/sweep/shard.sh -devices paper,hopper -seeds 1:100
#
#SBATCH --job-name=sweep
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
# A minute before the time is up, so that the file gets what there is.
#SBATCH --signal=B:TERM@60
set -eu
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
	shard=$SLURM_ARRAY_TASK_ID
elif [ -n "${JOB_COMPLETION_INDEX:-}" ]; then
	shard=$((JOB_COMPLETION_INDEX + 1)) # of an Indexed Job of Kubernetes, from 0
else
	echo "shard.sh: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX says which shard this is" >&2
	exit 2
fi
# Not SLURM_ARRAY_TASK_COUNT: it is less where only some shards are submitted again.
exec "${ROUNDOFF:-roundoff}" sweep -shard "$shard/${SHARDS:?says how many shards there are}" \
	-o "${RESULTS:?is the folder of the results}/shard-$shard-of-$SHARDS.csv" "$@"
