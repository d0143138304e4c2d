#!/bin/sh
# Everything that only a machine with an NVIDIA GPU can tell, in parts, the most important first: whatever time there is
# yields whole parts. Wants what tests/gpu_pack.sh packed, or a build folder; python3 for the ladders; no cmake.
#
#   tests/gpu_all.sh BUILD OUT [--seconds N] [--only PART]... [--name h100] [--device cuda:N] [--small]
#
# Parts in their order: matrix device (gpu.sh), peers (tests/bench/gpu_peers), pipelines, folders (whole jobs over
# folders, gpu_folders.py; of several GPUs at once: gpu_host.py), then the ladders of gpu_results.py
# transpose histogram stencil5 stencil15 matmul reduction bench, then counts memcheck initcheck synccheck racecheck
# (gpu.sh), and limits (gpu_limits.py, of the peers of this run), where ncu is.
# Leaves in OUT (nothing else, so that few files come back), each written anew as soon as there is more:
#   NAME-gpu-tests.txt   what passed, a line a part
#   NAME-peers.json      every row of tests/bench/gpu_peers; NAME-peers.txt: what it printed
#   results.tgz          NAME-LADDER.json of tests/gpu_results.py, NAME-folders.json, NAME-limits.json: unpack into
#                        docs/results, then docs/results.py
#   log.txt              everything that was said
# --seconds: when all shall be over, 570 unless given. --small: tiny sizes, to try this script (with --device simt too).
# BUILD/lib, where there is one, holds shared libraries that the machine may lack. NPP and cuBLAS are looked for in the
# folders of SMP_PEER_LIBS, in this Python's packages and where they are installed; a machine without NPP can be given
# libnppc, libnppidei, libnppig, libnppif and libnppist out of PyPI's nvidia-npp. Exit status: 0 when all parts ran and
# passed.
set -u

usage() { sed -n '5p' "$0" | cut -c5- >&2; exit 2; }

here=$(cd "$(dirname "$0")/.." && pwd) || exit 2
build= out= seconds=570 only= name=h100 device=cuda small=
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) [ $# -gt 1 ] || usage; seconds=$2; shift ;;
    --only) [ $# -gt 1 ] || usage; only="$only $2"; shift ;;
    --name) [ $# -gt 1 ] || usage; name=$2; shift ;;
    --device) [ $# -gt 1 ] || usage; device=$2; shift ;;
    --small) small=yes ;;
    -*) usage ;;
    *) if [ -z "$build" ]; then build=$1; elif [ -z "$out" ]; then out=$1; else usage; fi ;;
    esac
    shift
done
[ -n "$build" ] && [ -n "$out" ] || usage
build=$(cd "$build" && pwd) || exit 2
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
[ -x "$build/smempipe" ] || { echo "$build/smempipe is not there" >&2; exit 2; }
[ -d "$build/lib" ] && export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
begun=$(date +%s)
failed=0
tests=$out/$name-gpu-tests.txt
: > "$out/log.txt"

say() { echo "$1" | tee -a "$out/log.txt"; }
left() { echo $((seconds - $(date +%s) + begun)); }

wanted() {
    case "$only " in *" $1 "* | " ") return 0 ;; esac
    return 1
}

# limited SECONDS COMMAND...: runs it for so long at most, and no longer than there is; 124: not within it, 125: no
# time.
limited() {
    limit=$1; shift
    [ "$(left)" -ge "$limit" ] || limit=$(left)
    [ "$limit" -ge 5 ] || return 125
    timeout -k 5 "$limit" "$@"
}

# check SECONDS PART: a part of gpu.sh; its line goes to the summary.
check() {
    most=$1; part=$2
    wanted "$part" || return 0
    say "== gpu.sh, part $part [$(left) s left]"
    rm -f "$work/part"
    limited "$most" sh "$here/tests/gpu.sh" "$build" --part "$part" --device "$device" --log "$work/part" \
        > "$work/said" 2>&1
    status=$?
    cat "$work/said" >> "$out/log.txt"
    [ -s "$tests" ] || { [ -f "$work/part" ] && grep -h '^smempipe\|^GPU' "$work/part" > "$tests"; }
    if [ -f "$work/part" ]; then
        grep -h "^$part " "$work/part" | tee -a "$tests"
    elif [ $status -eq 125 ]; then
        echo "$part NOT RUN: no time was left" | tee -a "$tests"
    else
        echo "$part NOT FINISHED within $limit s (status $status)" | tee -a "$tests"
        tail -n 20 "$work/said"
    fi
    [ $status -eq 0 ] || failed=1
}

# A photograph for the rows that want one.
photograph() {
    for sample in "$here"/samples/*.png "$here"/samples/*.jpg; do
        "$build/smempipe" run -e 'flip horizontal' "$sample" "$work/photo.npy" --device cpu --force \
            > /dev/null 2>&1 || continue
        head -c 200 "$work/photo.npy" | grep -aq "'|u1'" && return 0
    done
    return 1
}

peers() {
    most=$1
    wanted peers || return 0
    say "== gpu_peers [$(left) s left]"
    [ -x "$build/tests/gpu_peers" ] || { say "gpu_peers is not there"; failed=1; return; }
    if command -v python3 > /dev/null; then
        found=$(python3 -c 'import glob, site, sysconfig
folders = {sysconfig.get_paths()["purelib"], *site.getsitepackages()}
print(":".join(path for folder in sorted(folders)
               for path in sorted(glob.glob(folder + "/nvidia/*/lib"))))' 2> /dev/null)
        SMP_PEER_LIBS=${SMP_PEER_LIBS:-}${SMP_PEER_LIBS:+:}$found
        export SMP_PEER_LIBS
    fi
    say "libraries: ${SMP_PEER_LIBS:-where the loader looks}"
    [ "$(left)" -ge "$most" ] || most=$(left)
    set -- --device "$device" --json "$out/$name-peers.json" --total $((most > 20 ? most - 15 : 1))
    photograph && set -- "$@" --photo "$work/photo.npy"
    [ -n "$small" ] && set -- "$@" --tiny
    limited "$most" "$build/tests/gpu_peers" "$@" > "$out/$name-peers.txt" 2>&1
    status=$?
    tee -a "$out/log.txt" < "$out/$name-peers.txt"
    [ $status -eq 0 ] || { say "gpu_peers: status $status"; failed=1; }
}

# ladder SECONDS NAME: one of gpu_results.py; two tries of 40 s each at most are its own.
ladder() {
    most=$1; which=$2
    wanted "$which" || return 0
    say "== gpu_results.py, $which [$(left) s left]"
    command -v python3 > /dev/null || { say "there is no python3"; failed=1; return; }
    mkdir -p "$work/results"
    limited "$most" python3 -B "$here/tests/gpu_results.py" "$build/smempipe" --out "$work/results" \
        --name "$name" --device "$device" --time-limit 4 --only "$which" ${small:+--small} >> "$out/log.txt" 2>&1
    status=$?
    [ $status -eq 0 ] || { say "$which: status $status"; failed=1; }
    keep_results
}

keep_results() { tar -C "$work/results" -czf "$work/results.tgz" . && mv "$work/results.tgz" "$out/results.tgz"; }

# Whole jobs, beside the processors.
folders() {
    wanted folders || return 0
    say "== gpu_folders.py [$(left) s left]"
    command -v python3 > /dev/null || { say "there is no python3"; failed=1; return; }
    mkdir -p "$work/results"
    limited "$1" python3 -B "$here/tests/gpu_folders.py" "$build/smempipe" "$work/results/$name-folders.json" \
        ${small:+--small --files 8} > "$work/said" 2>&1
    status=$?
    tee -a "$out/log.txt" < "$work/said"
    [ $status -eq 0 ] || { say "folders: status $status"; failed=1; }
    if [ "$("$build/smempipe" devices | grep -c '^cuda')" -gt 1 ]; then
        limited 60 python3 -B "$here/tests/gpu_host.py" "$build/smempipe" "$work/results/$name-host.json" \
            > "$work/said" 2>&1
        status=$?
        tee -a "$out/log.txt" < "$work/said"
        [ $status -eq 0 ] || { say "host: status $status"; failed=1; }
    fi
    keep_results
}

# Counters of rows below their bars.
limits() {
    wanted limits || return 0
    say "== gpu_limits.py [$(left) s left]"
    for need in ncu python3; do
        command -v $need > /dev/null || { say "there is no $need"; return; }
    done
    [ -s "$out/$name-peers.json" ] || { say "there are no peers to look at"; return; }
    mkdir -p "$work/results"
    most=$1
    [ "$(left)" -ge "$most" ] || most=$(left)
    limited "$most" python3 -B "$here/tests/gpu_limits.py" "$build/tests/gpu_peers" "$out/$name-peers.json" \
        "$work/results/$name-limits.json" --device "$device" --seconds $((most > 20 ? most - 10 : 1)) \
        > "$work/said" 2>&1
    status=$?
    tee -a "$out/log.txt" < "$work/said"
    [ $status -eq 0 ] || { say "limits: status $status"; failed=1; }
    keep_results
}

: > "$tests"
say "smempipe from $build on $device, $seconds s"
check 120 matrix
check 30 device
peers 240
check 60 pipelines
folders 150
for which in transpose histogram stencil5 stencil15 matmul reduction bench; do
    ladder 60 $which
done
check 200 counts
for part in memcheck initcheck synccheck; do
    check 150 $part
done
check 200 racecheck # the longest, and the emulator's traces look for races too
limits 250
say "== over after $(($(date +%s) - begun)) s"
cat "$tests"
exit $failed
