#!/bin/sh
# What only a machine with an NVIDIA GPU can show. Needs a build folder (carried from elsewhere will do: smempipe,
# tests/unit_tests, libsmempipe-*.so, libsmp_*.so, sass), the driver and, for the last four parts, compute-sanitizer
# (CUDA toolkit). No cmake, no Python.
#
#   tests/gpu.sh BUILD [--log FILE] [--part NAME]... [--device cuda:N] [--without-sanitizer]
#
# Parts, each one line of the summary:
#   matrix     every stage, variant, format, 1, 3 and 4 channels on the GPU against the CPU, up to 1027x771
#   device     tests of the device itself: kernels in every format, copies, memory
#   counts     the model's bank conflicts against the GPU's: every stage and variant, formats, channels, three odd
#              sizes, and each shipped pipeline on each sample (SASS metrics; needs CUPTI). SMP_COUNTS_SECONDS (150):
#              time in which to begin runs; what it has no room for is told, and fails of pipelines. Every 20 s: so far
#   pipelines  each shipped pipeline on each sample picture: the same NPY bytes from cpu and cuda
#   lab        the kernel lab: a file's kernels as stages; then all programs of tests/lab, samples/kernels and
#              docs/course (needs nvcc). The cubin that is counted runs, and the GPU's counters (SASS metrics; needs
#              CUPTI, ptxas and nvdisasm) tell of each instruction what executing its SASS told
#   time       (only where it is named) microbenchmarks of tests/time/kernels by ncu, and the numbers of the time model
#              that they determine beside those of gpus.def; needs nvcc, ncu, Python. SMP_TIME_CSV: a file for what was
#              measured; SMP_SMS (132): the GPU's SMs
#   feed       (only where it is named) smempipe.Feed on the GPU: tests/gpu_feed.py; needs Python with PyTorch
#   memcheck, racecheck, initcheck, synccheck   compute-sanitizer over the matrix at small sizes
# Exit status 0: all parts passed. FILE gets the summary with what it ran on. Output of parts that fail is shown.
set -u

usage() { sed -n '6p' "$0" | cut -c5- >&2; exit 2; }

here=$(cd "$(dirname "$0")/.." && pwd) || exit 2
build= log= parts= device=cuda sanitizer=yes
while [ $# -gt 0 ]; do
    case $1 in
    --log) [ $# -gt 1 ] || usage; log=$2; shift ;;
    --part) [ $# -gt 1 ] || usage; parts="$parts $2"; shift ;;
    --device) [ $# -gt 1 ] || usage; device=$2; shift ;;
    --without-sanitizer) sanitizer=no ;;
    -*) usage ;;
    *) [ -z "$build" ] || usage; build=$1 ;;
    esac
    shift
done
[ -n "$build" ] || usage
build=$(cd "$build" && pwd) || exit 2
for program in smempipe tests/unit_tests; do
    [ -x "$build/$program" ] || { echo "$build/$program is not there: build it first" >&2; exit 2; }
done
case $device in
cuda*)
    library=$build/libsmempipe-cuda.so
    [ -e "$library" ] || { echo "$library is not there: it has the kernels" >&2; exit 2; }
    ;;
esac
work=$(mktemp -d) || exit 2
stages=
trap 'rm -rf "$work"' EXIT
trap cut_off INT TERM
exec 3>&1
summary=$work/summary
failed=0

say() { echo "$1"; echo "$1" >> "$summary"; }

wanted() {
    [ -z "$parts" ] && return 0
    case " $parts " in *" $1 "*) return 0 ;; esac
    return 1
}

# A signal: what the counts know so far is told.
cut_off() {
    trap '' INT TERM
    jobs -p > "$work/jobs"
    while read -r job; do # a subshell that has just begun may lose another signal
        [ "$job" = "$stages" ] || kill -9 "$job"
    done < "$work/jobs" 2> /dev/null
    if [ -n "$stages" ]; then
        kill "$stages" 2> /dev/null
        wait
        status=130
        end_counts > /dev/null
        say "$(printf '%-10s CUT OFF: %s' counts "$(cat "$work/detail")")" >&3
        [ -z "$log" ] || cp "$summary" "$log"
    fi
    exit 130
}

# part NAME COMMAND...: runs it; the last line that it prints into $work/detail (or its own last line) is the summary's.
part() {
    name=$1; shift
    wanted "$name" || return 0
    rm -f "$work/detail"
    start=$(date +%s)
    if "$@" > "$work/$name.out" 2>&1; then verdict=passed; else verdict="FAILED ($?)"; failed=1; fi
    seconds=$(($(date +%s) - start))
    detail=$(cat "$work/detail" 2> /dev/null || grep -v '^\[' "$work/$name.out" | tail -n 1)
    say "$(printf '%-10s %s in %d s: %s' "$name" "$verdict" "$seconds" "$detail")"
    if [ "$verdict" != passed ]; then
        tail -n ${SMP_SHOW:-40} "$work/$name.out" | sed 's/^/    /'
    fi
}

# in_parts NAME COMMAND...: a process for every Nth stage, one a core up to 16, since most of the work is the
# processor's. Their outputs are $work/NAME.0 and so on; of those that fail the end is shown, and one's status
# returned.
in_parts() {
    over=$1; shift
    parts_of=$(nproc 2> /dev/null || echo 1)
    [ "$parts_of" -le 16 ] || parts_of=16
    k=0
    while [ $k -lt "$parts_of" ]; do
        (
            SMP_MATRIX_PART=$k/$parts_of "$@"
            echo $? > "$work/$over.status.$k"
        ) > "$work/$over.$k" 2>&1 &
        k=$((k + 1))
    done
    wait
    status=0 k=0
    while [ $k -lt "$parts_of" ]; do
        own=$(cat "$work/$over.status.$k" 2> /dev/null || echo 1)
        if [ "$own" -ne 0 ]; then
            status=$own
            tail -n 30 "$work/$over.$k"
        fi
        k=$((k + 1))
    done
    return $status
}

matrix() {
    in_parts matrix env SMP_TEST_DEVICE="$device" "$build/tests/unit_tests" gpu_matrix
    status=$?
    cat "$work"/matrix.[0-9]* | awk -v parts="$parts_of" '
        /^matrix on/ {
            for (i = 2; i <= NF; i++) {
                if ($i == "runs") runs += $(i - 1)
                if ($i == "inputs;") inputs += $(i - 1)
            }
            sub(/: .*/, "")
            name = $0
        }
        END { if (name) print name ": " runs " runs over " inputs " inputs, in " parts " processes" }' > "$work/detail"
    return $status
}

device_tests() {
    "$build/tests/unit_tests" cuda_device
    status=$?
    grep -h 'PASSED\|FAILED' "$work/device.out" | grep 'test(s)' | tr '\n' ' ' > "$work/detail"
    return $status
}

# Of each pipeline and sample that nobody has taken: the exit status and what was said. Which runs take long is not
# known before, so that workers take the next one, not every Nth. None begins once there is a file "over".
count_pipelines() {
    for pipe in "$here"/pipelines/*.pipe; do
        mark=
        case $pipe in */watermark.pipe) mark="--set mark=$here/samples/page.jpg" ;; esac
        for sample in "$here"/samples/*.png "$here"/samples/*.jpg; do
            run=$work/counted/${pipe##*/}-${sample##*/}
            [ ! -e "$work/counted/over" ] || return 0
            (set -C; : > "$run.taken") 2> /dev/null || continue
            # shellcheck disable=SC2086
            "$build/smempipe" run --counters --report -q "$pipe" $mark "$sample" "$run.npy" --force --threads 1 \
                --device "$device" > "$run.out" 2>&1
            echo $? > "$run.status"
            rm -f "$run.npy"
        done
    done
}

# Sets agree, differ, refused and unsure to the numbers of runs of pipelines so far, and missed to how many have not
# ended. loud: shows those that are wrong.
sum_pipelines() {
    agree=0 differ=0 refused=0 unsure=0 missed=0
    for pipe in "$here"/pipelines/*.pipe; do
        for sample in "$here"/samples/*.png "$here"/samples/*.jpg; do
            run=$work/counted/${pipe##*/}-${sample##*/}
            if ! read -r own < "$run.status"; then missed=$((missed + 1)); continue; fi 2> /dev/null
            case $own in
            0) agree=$((agree + 1)) ;;
            2) refused=$((refused + 1)) ;;
            7) differ=$((differ + 1)) ;;
            *) unsure=$((unsure + 1)) ;;
            esac
            [ "$1" = loud ] && [ "$own" != 0 ] && [ "$own" != 2 ] || continue
            echo "${run##*/}: exit status $own"
            cat "$run.out"
        done
    done
    said="pipelines on samples: $agree agree, $differ differ, $unsure failed, $refused refused by the pipeline"
    [ $missed -eq 0 ] || said="$said, $missed not reached"
}

# What is known so far, for who looks at a run that takes long or was cut off.
counts_so_far() {
    while sleep 20 > /dev/null 3>&-; do
        sum_pipelines quiet
        echo "counts $(grep -h '^so far' "$work/counts.stages" | tail -n 1); $said"
    done
}

# Pipelines and stages at once: the ones mostly wait for the GPU's driver and for their turn at its counters, the others
# for the model. Each run of a pipeline has a thread. Those that have not begun when the time is up are not reached.
counts() {
    limit=${SMP_COUNTS_SECONDS:-150}
    mkdir -p "$work/counted"
    : > "$work/counts.stages"
    [ "$limit" -gt 0 ] || : > "$work/counted/over"
    pipelines=
    SMP_COUNTS_SECONDS=$limit SMP_TEST_DEVICE=$device \
        "$build/tests/unit_tests" gpu_counts > "$work/counts.stages" 2>&1 3>&- &
    stages=$!
    workers=$(nproc 2> /dev/null || echo 1) k=0
    [ "$workers" -le 16 ] || workers=16
    while [ $k -lt "$workers" ]; do
        count_pipelines < /dev/null 3>&- &
        pipelines="$pipelines $!"
        k=$((k + 1))
    done
    counts_so_far >&3 2> /dev/null &
    telling=$!
    (k=0; while [ $k -lt "$limit" ]; do sleep 1; k=$((k + 1)); done; : > "$work/counted/over") > /dev/null 2>&1 3>&- &
    clock=$!
    wait $stages
    status=$?
    # shellcheck disable=SC2086
    wait $pipelines
    kill -9 $telling $clock 2> /dev/null # a subshell that has just begun may lose another signal
    stages=
    end_counts
}

# Tells what was counted, also where a signal ends it.
end_counts() {
    cat "$work/counts.stages"
    if [ $status -eq 77 ]; then
        grep -h '^skipped' "$work/counts.stages" > "$work/detail"
        return 0
    fi
    sum_pipelines loud
    {
        grep -h '^counts on' "$work/counts.stages" || grep -h '^so far' "$work/counts.stages" | tail -n 1
        grep -h '^skipped' "$work/counts.stages" && status=1
        echo "; $said"
    } > "$work/counted/said"
    tr -d '\n' < "$work/counted/said" > "$work/detail"
    [ $status -eq 0 ] && [ $((differ + unsure + missed)) -eq 0 ] && [ $agree -gt 0 ]
}

# Exit status 7 of compare: the counts differ.
lab_pipelines() {
    agree=0 differ=0 unsure=0
    for pipe in "$here"/tests/lab/*.pipe "$here"/samples/kernels/*.pipe; do
        "$build/smempipe" compare "$pipe" "$here/samples/page.jpg" --device "$device" --repeat 20 --json - \
            > "$work/lab.json" 2> "$work/lab.err"
        status=$?
        echo "$(basename "$pipe"): exit status $status"
        if [ $status -eq 0 ] && grep -q '"counts_of": *"SASS of sm_90"' "$work/lab.json" &&
            grep -q '"sass": *{' "$work/lab.json"; then
            agree=$((agree + 1))
        elif [ $status -eq 7 ]; then
            differ=$((differ + 1))
            cat "$work/lab.json" "$work/lab.err"
        else
            unsure=$((unsure + 1))
            cat "$work/lab.err"
            head -c 3000 "$work/lab.json"
        fi
    done
}

# Programs of the lab, each with its argument. Left out are those of planted mistakes, which a GPU need not survive,
# cuBLAS', whose kernels are others there, and kernels that launch kernels, which end by an illegal address under the
# counters.
lab_programs() {
    for file in "$here"/samples/kernels/*.cu "$here"/tests/lab/*.cu "$here"/tests/lab/*/*.cu; do
        case $file in
        */k16_bugs.cu | */mistakes.cu | */findings/host.cu | */blas.cu | */launches.cu) ;;
        */mbarrier.cu) for which in turn parts bulk; do echo "$file $which"; done ;;
        *) ! grep -q '^int main' "$file" || echo "$file" ;;
        esac
    done
}

# Of every Nth program: the exit status and what was said. The GPU's counters serve one at a time, nvcc and the model
# many.
count_programs() {
    n=$1
    lab_programs | while read -r file which; do
        n=$((n + 1))
        [ $((n % $2)) -eq 0 ] || continue
        run=$work/programs/$(basename "$file" .cu)$which
        arch=sm_90
        ! grep -q wgmma "$file" || arch=sm_90a
        # shellcheck disable=SC2086
        XDG_CACHE_HOME=$work/cache timeout 140 "$build/smempipe" kernel "$file" --device cuda --arch $arch --json \
            -- $which > "$run.json" 2> "$run.err"
        echo $? > "$run.status"
    done
}

# The sum of what all programs' JSON tells under a name of "gpu".
lab_sum() {
    cat "$work"/programs/*.json | sed -n "/\"gpu\": {/,/}/s/.*\"$1\": *\([0-9]*\).*/\1/p" |
        awk '{ sum += $1 } END { print sum + 0 }'
}

lab() {
    lab_pipelines
    mkdir -p "$work/programs"
    workers=$(nproc 2> /dev/null || echo 1)
    [ "$workers" -le 16 ] || workers=16
    k=0
    while [ $k -lt "$workers" ]; do
        count_programs $k "$workers" &
        k=$((k + 1))
    done
    wait
    wanted_runs=$(lab_programs | wc -l)
    runs=0 wrong=0
    for run in "$work"/programs/*.status; do
        [ -e "$run" ] || continue
        runs=$((runs + 1))
        [ "$(cat "$run")" -ne 0 ] || continue
        wrong=$((wrong + 1))
        echo "$(basename "$run" .status): exit status $(cat "$run")"
        sed -n '/"gpu": {/,/}/p' "${run%.status}.json" | sed 's/\\n/\n    /g'
        tail -n 5 "${run%.status}.err"
    done
    {
        echo "$agree pipelines of kernels agree with the GPU's counters, $differ differ, $unsure were not counted;"
        echo " of $runs programs with $(lab_sum kernels) kernels $wrong differ or failed:"
        echo " $(lab_sum same) instructions equal, $(lab_sum differ) differ, $(lab_sum repeated) in loops that wait,"
        echo " $(lab_sum untold) of kinds that are not told, $(lab_sum left_out) kernels left out"
    } | tr -d '\n' | tee "$work/detail"
    echo
    [ $differ -eq 0 ] && [ $unsure -eq 0 ] && [ $agree -gt 0 ] && [ $wrong -eq 0 ] && [ "$runs" -eq "$wanted_runs" ]
}

# A pipeline that refuses a picture must refuse it on both devices with one exit status.
pipelines() {
    same=0 refused=0 different=0
    for pipe in "$here"/pipelines/*.pipe; do
        set --
        case $pipe in */watermark.pipe) set -- --set "mark=$here/samples/page.jpg" ;; esac
        for sample in "$here"/samples/*.png "$here"/samples/*.jpg; do
            [ -e "$pipe" ] && [ -e "$sample" ] || { echo "no pipelines/ or samples/ in $here"; return 1; }
            rm -f "$work/cpu.npy" "$work/cuda.npy"
            "$build/smempipe" run "$pipe" "$@" "$sample" "$work/cpu.npy" --device cpu 2> "$work/cpu.err"; on_cpu=$?
            "$build/smempipe" run "$pipe" "$@" "$sample" "$work/cuda.npy" --device "$device" 2> "$work/cuda.err"
            on_cuda=$?
            case=$(basename "$pipe")\ on\ $(basename "$sample")
            if [ $on_cpu -ne $on_cuda ]; then
                echo "$case: exit status $on_cpu on the CPU, $on_cuda on the GPU"
                cat "$work/cpu.err" "$work/cuda.err"
                different=$((different + 1))
            elif [ $on_cpu -ne 0 ]; then
                [ $on_cpu -eq 2 ] || { cat "$work/cpu.err"; different=$((different + 1)); }
                refused=$((refused + 1))
            elif cmp -s "$work/cpu.npy" "$work/cuda.npy" &&
                "$build/smempipe" diff "$work/cpu.npy" "$work/cuda.npy"; then
                same=$((same + 1))
            else
                echo "$case: different results"
                different=$((different + 1))
            fi
        done
    done
    echo "$same equal, $different different, $refused refused by the pipeline on both" | tee "$work/detail"
    [ $different -eq 0 ] && [ $same -gt 0 ]
}

# memcheck, racecheck, initcheck or synccheck over one input a stage, format and channel count. racecheck and synccheck
# look at shared memory and barriers, memcheck at leaks of device memory too.
sanitize() {
    tool=$1
    options=
    [ "$tool" = memcheck ] && options="--leak-check full"
    in_parts "$tool" env SMP_TEST_DEVICE="$device" SMP_MATRIX=reduced \
        compute-sanitizer --tool "$tool" $options --error-exitcode 9 "$build/tests/unit_tests" gpu_matrix
    status=$?
    for own in "$work/$tool".[0-9]*; do
        grep -q 'SUMMARY: 0' "$own" && continue
        [ $status -ne 0 ] || status=1
        grep -h '^=========\|FAILED\|error:' "$own" | head -n 30
    done
    grep -h 'SUMMARY' "$work/$tool".[0-9]* | sed 's/^=* *//' | sort | uniq -c |
        sed 's/^ *\([0-9]*\) /\1 x /' | tr '\n' ' ' > "$work/detail"
    return $status
}

# What microbenchmarks say of this GPU, beside the table that predictions are made of.
time_numbers() {
    measured=${SMP_TIME_CSV:-$work/time.csv}
    gpu=h100
    grep -q H200 "$work/gpus" 2> /dev/null && gpu=h200
    python3 -B "$here/tests/time/measure.py" "$measured" --quick --sms "${SMP_SMS:-132}" m_micro j_cal n_more k_cold \
        b_latency o_atomic o_rows o_code || return 1
    python3 -B "$here/tests/time/calibrate.py" "$measured" --gpu $gpu > "$work/numbers" || return 1
    cat "$work/numbers" >&3
    echo "$(wc -l < "$measured") rows measured, $(grep -c '\*$' "$work/numbers") numbers apart from the table" |
        tee "$work/detail"
}

version=$("$build/smempipe" --version 2> /dev/null | head -n 1 | sed 's/^smempipe *//')
say "smempipe $version on $device, $(date -u '+%Y-%m-%d %H:%M UTC')"
if command -v nvidia-smi > /dev/null; then
    nvidia-smi --query-gpu=name,driver_version,memory.total,compute_cap --format=csv,noheader > "$work/gpus"
    while read -r line; do say "GPU: $line"; done < "$work/gpus"
fi
part matrix matrix
part device device_tests
part counts counts
part pipelines pipelines
part lab lab
[ -z "$parts" ] || part time time_numbers
[ -z "$parts" ] || part feed python3 -B "$here/tests/gpu_feed.py" "$build"
if [ $sanitizer = yes ]; then
    for tool in memcheck racecheck initcheck synccheck; do
        if command -v compute-sanitizer > /dev/null; then
            part $tool sanitize $tool
        elif wanted $tool; then
            say "$(printf '%-10s NOT RUN: there is no compute-sanitizer (--without-sanitizer leaves it out)' $tool)"
            failed=1
        fi
    done
else
    say "sanitizers left out"
fi
[ $failed -eq 0 ] && say "all passed" || say "FAILED"
[ -z "$log" ] || cp "$summary" "$log"
exit $failed
