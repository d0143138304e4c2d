#!/bin/bash
# array.sh PIPELINE LIST OUT: a task of a Slurm array that shares a list with the others, who may be any number:
#
#   smempipe list photos/ -r -o work.list
#   sbatch --array=1-100 samples/cluster/array.sh blur work.list out/
#
# Run it again, with as many tasks as you like, until it says that nothing is left.
#SBATCH --cpus-per-task=4
exec smempipe batch "$1" --list "$2" -o "$3" --claim --resume
