#!/bin/sh
# Makes the .ptx of each lesson, or of those that are named, from its .cu. Needs nvcc. A test compares the sums.
set -eu
cd "$(dirname "$0")"
for source in "${@:-*.cu}"; do
    for cu in $source; do
        ptx=${cu%.cu}.ptx
        nvcc -arch=sm_80 -lineinfo -ptx "$cu" -o "$ptx.new"
        {
            echo "// $cu compiled by docs/course/make.sh; sha256 of it: $(sha256sum <"$cu" | cut -c1-64)"
            sed -E '/^\/\//d; /^$/d; s#^(\t\.file\t1 )"(.*/)?#\1"#
                s#^(\t\.file\t[0-9]+ )".*/include/#\1"cuda/include/#' "$ptx.new"
        } >"$ptx"
        rm "$ptx.new"
    done
done
