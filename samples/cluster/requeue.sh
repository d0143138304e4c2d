#!/bin/bash
# requeue.sh COMMAND...: runs it in a Slurm job so that a time limit or a preemption costs only the files in flight:
#
#   sbatch --requeue --open-mode=append --signal=B:TERM@60 [--array=1-N] samples/cluster/requeue.sh \
#       smempipe batch blur --list work.list -o out/ --claim --resume
#
# Slurm sends SIGTERM to this script 60 s before the limit, and when it preempts; smempipe finishes the files in flight
# and ends with 143; the job queues itself again, 50 times at most. Any other status is the job's.
"$@" &
child=$!
trap 'kill -TERM $child 2>/dev/null' TERM
wait $child
status=$?
while kill -0 $child 2>/dev/null; do # the trap ended the wait
    wait $child
    status=$?
done
if [ $status -eq 143 ] && [ -n "${SLURM_JOB_ID:-}" ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 50 ]; then
    scontrol requeue "$SLURM_JOB_ID" && sleep 60 # until Slurm ends this run of it
fi
exit $status
