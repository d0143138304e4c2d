#!/bin/bash
# parallel.sh WORKERS PIPELINE LIST OUT: workers of GNU parallel share a list; its -S host,host puts them on several
# hosts that see the same folders.
seq "$1" | parallel --will-cite -j "$1" -q -N0 smempipe batch "$2" --list "$3" -o "$4" --claim --resume --threads 1
