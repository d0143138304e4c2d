#!/bin/sh
# Stands in for nvcc where there is none: clang++ and include/cuda_runtime.h beside this file, no file of NVIDIA's.
# Takes the options that `smempipe kernel` gives to nvcc.
set -eu
here=$(dirname "$0")
std=-std=c++17 arch=80 out= keep= source= ptx_only= options= libraries= linking= contract=
while [ $# -gt 0 ]; do
    case $1 in
    -std=*) std=$1 ;;
    -lineinfo | --*keep | -cudart=*) ;;
    -ptx) ptx_only=1 ;;
    -o) out=$2 && shift ;;
    --keep-dir=*) keep=${1#--keep-dir=} ;;
    -Xcompiler=*) options=${1#-Xcompiler=} ;;
    -Xlinker=*) linking=${1#-Xlinker=} ;;
    -l*) libraries=$1 ;;
    --fmad=false) contract=-ffp-contract=off ;;
    -*) ;;
    *) source=$1 ;;
    esac
    shift
done
base=$(basename "$source")
ptx=$out
[ -n "$ptx_only" ] || ptx=$keep/${base%.*}.ptx
# clang calls PTX for sm_80 right in every version since 11; ptxas takes it for any later GPU.
cuda() {
    clang++ -x cuda -nocudainc -nocudalib --cuda-gpu-arch=sm_$arch -Xclang -target-sdk-version=11.5 \
        -Wno-unknown-cuda-version "$std" -I"$here/include" -include cuda_runtime.h ${options:+"$options"} \
        ${contract:+"$contract"} "$@" "$source"
}
cuda -Xclang -target-feature -Xclang +ptx70 -O3 -gline-tables-only --cuda-device-only -S -o "$ptx"
[ -z "$ptx_only" ] || exit 0
cuda -O1 --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang "$ptx" -c -o "$keep/host.o"
clang++ "$keep/host.o" -o "$out" ${linking:+-Xlinker "$linking"} ${libraries:+"$libraries"}
