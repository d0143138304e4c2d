#!/bin/bash
# Ranks of MPI that share a list, in an allocation of Slurm; what a rank that died left is done by the next of three
# tries. PMI: pmix for Open MPI, pmi2 for MPICH.
#
#   sbatch -N 4 --ntasks-per-node=8 --cpus-per-task=4 ranks.sh PMI smempipe-mpi batch PIPELINE --list LIST -o OUT
set -u
if [ $# -lt 3 ]; then
    sed -n '5s/^# *//p' "$0" >&2
    exit 2
fi
pmi=$1
shift
if [ "$2" = batch ]; then
    set -- "$@" --resume
fi
for try in 1 2 3; do
    srun --mpi="$pmi" --kill-on-bad-exit=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "$@"
    status=$?
    case $status in
    134 | 137 | 139) echo "ranks.sh: try $try: a rank died ($status)" >&2 ;;
    *) exit $status ;;
    esac
done
exit $status
