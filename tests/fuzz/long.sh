#!/usr/bin/env bash
# Every fuzz target of a build for a long time: one processor each, as many at once as there are. Prints a line a target
# and what was found; ends with 1 when anything was.
#
#     cmake --preset fuzz && cmake --build --preset fuzz && tests/fuzz/long.sh build/fuzz 1800
#
# BUILD is one of the preset fuzz (clang, libFuzzer) or of a sanitizer (fuzz_mutations). Of it only tests/fuzz is
# needed: it may be copied to a machine with glibc as new and the libraries that the program is linked with. What
# libFuzzer
# learns is kept in BUILD/tests/fuzz/found and begun with the next time.
set -euo pipefail
if [ $# -lt 2 ] || ! [[ $2 =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: tests/fuzz/long.sh BUILD SECONDS [TARGET...]" >&2
    exit 2
fi
cd "$1/tests/fuzz"
export seconds=$2
shift 2

targets=("$@")
if [ $# = 0 ]; then
    for seeds in seeds/*/; do
        name=$(basename "$seeds")
        [ -x "fuzz_$name" ] || [ -x fuzz_mutations ] || continue
        targets+=("$name")
    done
fi
if [ ${#targets[@]} = 0 ]; then
    echo "There are no targets in $PWD: build them first." >&2
    exit 2
fi

run() {
    local name=$1 status=0 begun=$SECONDS
    mkdir -p found long
    rm -f "long/$name"-*
    if [ -x "fuzz_$name" ]; then
        mkdir -p "found/$name"
        "./fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=8192 -dict="$name.dict" \
            -artifact_prefix="long/$name-" -print_final_stats=1 "found/$name" "seeds/$name" >"long/$name.log" 2>&1 ||
            status=$?
    else
        SMP_FUZZ_SECONDS=$seconds SMP_FUZZ_SEED=$RANDOM ./fuzz_mutations "$name" "seeds/$name" "$name.dict" \
            "long/$name-input" 0 >"long/$name.log" 2>&1 || status=$?
    fi
    local inputs
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^[a-z_0-9]*: \([0-9]*\) inputs from .*/\1/p' \
        "long/$name.log")
    if [ $status = 0 ]; then
        printf '%-12s %12s inputs, %d s: nothing found\n' "$name" "${inputs:-0}" $((SECONDS - begun))
    else
        printf '%-12s %12s inputs, %d s: FOUND (status %d), see %s/long\n' "$name" "${inputs:-0}" $((SECONDS - begun)) \
            $status "$PWD"
        grep -m 3 -E 'ERROR|SUMMARY|runtime error|ALARM|deadly signal' "long/$name.log" || tail -n 5 "long/$name.log"
    fi
    return $((status != 0))
}
export -f run
# shellcheck disable=SC2016
printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'run "$1"' run || {
    echo "Some targets found something." >&2
    exit 1
}
