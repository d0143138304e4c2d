# What a fresh Debian or Ubuntu machine needs, written once; sourced by samples/quickstart.sh and tests/run.sh.
# Installs with apt only what is missing, and says what for; calls no apt when nothing is. bash.

# A package is missing when its check fails: checks ask for what is used, so that a cmake or a compiler from elsewhere
# counts.
missing_packages=()
missing_reasons=()
need() { # need PACKAGE REASON CHECK...
    local package=$1 reason=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        missing_packages+=("$package")
        missing_reasons+=("$reason")
    fi
}

has() { command -v "$1"; }

has_library() { # has_library PKG_CONFIG_NAME PACKAGE
    pkg-config --exists "$1" || dpkg-query -W -f '${Status}' "$2" | grep -q 'ok installed'
}

has_file() { # has_file LIBRARY: one that is opened while the program runs
    ldconfig -p | grep -q "$1"
}

has_cmake() { # has_cmake MAJOR.MINOR: this version or a later one
    local found
    found=$(cmake --version | sed -n '1s/.* //p') && [ -n "$found" ] &&
        [ "$(printf '%s\n' "$1" "$found" | sort -V | head -n 1)" = "$1" ]
}

need_for_build() {
    need gcc "compiles the program (C11)" has "${CC:-cc}"
    need g++ "compiles the C++ side of the build" has "${CXX:-c++}"
    need ninja-build "runs the build, without pauses" has ninja
    need cmake "configures the build, version 3.22 or later" has_cmake 3.22
    need pkg-config "finds the libraries" has pkg-config
    need zlib1g-dev "inflates and deflates PNG" has_library zlib zlib1g-dev
    need libpng-dev "reads and writes PNG" has_library libpng libpng-dev
    need libjpeg-dev "reads and writes JPEG" has_library libjpeg libjpeg-dev
    need libisal-dev "reads and writes PNG several times as fast as zlib" has_library libisal libisal-dev
    need libtiff-dev "reads TIFF" has_library libtiff-4 libtiff-dev
    need libzstd-dev "writes TIFF with Zstandard" has_library libzstd libzstd-dev
    need libwebp-dev "reads and writes WebP" has_library libwebp libwebp-dev
    need libheif-dev "reads HEIC, reads and writes AVIF" has_library libheif libheif-dev
    need libmicrohttpd-dev "serves the page of smempipe edit" has_library libmicrohttpd libmicrohttpd-dev
    need libharfbuzz-dev "draws letters of fonts, with FreeType" has_library harfbuzz libharfbuzz-dev
    need libfontconfig-dev "finds fonts by name" has_library fontconfig libfontconfig-dev
    need libgif-dev "reads GIF" has_library libgif libgif-dev
    need libsndfile1-dev "reads and writes FLAC and OGG" has_library sndfile libsndfile1-dev
    need libmpg123-dev "reads MP3" has_library libmpg123 libmpg123-dev
    need libavformat-dev "reads M4A and the sound of video" has_library libavformat libavformat-dev
}

need_for_tests() {
    need libcmocka-dev "runs the unit tests" has_library cmocka libcmocka-dev
    need python3 "runs the oracle and command-line tests" test -x /usr/bin/python3
    need python3-numpy "the oracle for arithmetic" /usr/bin/python3 -c 'import numpy'
    need python3-scipy "the oracle for stencils and borders (scipy.ndimage)" /usr/bin/python3 -c 'import scipy.ndimage'
    need python3-pil "the oracle for resize" /usr/bin/python3 -c 'import PIL'
    need python3-opencv "the oracle for equalize, thresholds and filters" /usr/bin/python3 -c 'import cv2'
    need libjpeg-turbo-progs "makes JPEGs of other options, for the tests of JPEGs on a GPU" has cjpeg
    need libavif-bin "makes gray AVIF of either range, and pictures with alpha to be put into other boxes" has avifenc
    need libjxl-dev "reads and writes JPEG XL" has_library libjxl libjxl-dev
    need libopenjp2-7-dev "writes JPEG 2000" has_library libopenjp2 libopenjp2-7-dev
    need libraw-dev "reads camera raw" has_library libraw libraw-dev
    need libraw-bin "the oracle for camera raw" has dcraw_emu
    need libpoppler-glib8 "draws pages of PDF" has_file libpoppler-glib.so.8
    need librsvg2-2 "draws SVG" has_file librsvg-2.so.2
    need libjxl-tools "makes JPEG XL, and is the oracle for it" has cjxl
    need libopenjp2-tools "makes JPEG 2000, and is the oracle for it" has opj_compress
    need poppler-utils "the oracle for PDF, read and written" has pdftocairo
    need librsvg2-bin "the oracle for SVG" has rsvg-convert
    need imagemagick "the commands that docs/imagemagick.md sets beside ours" has convert
    need python3-pytest "runs the tests of the Python package" /usr/bin/python3 -c 'import pytest'
    need python3-hypothesis "arrays for them" /usr/bin/python3 -c 'import hypothesis'
    need python3-mutagen "the oracle for tags of sounds" /usr/bin/python3 -c 'import mutagen'
}

need_for_cluster() {
    need slurmctld "a private Slurm, for the tests of docs/clusters.md" has slurmctld
    need slurmd "its nodes" has slurmd
    need slurm-client "its commands" has sbatch
    need munge "its keys" has munged
    need openmpi-bin "mpirun" has mpirun
    need libopenmpi-dev "builds smempipe-mpi" has mpicc
    need parallel "GNU parallel" has parallel
}

install_missing() {
    [ ${#missing_packages[@]} -gt 0 ] || return 0
    echo "Missing on this machine:"
    local i
    for i in "${!missing_packages[@]}"; do
        printf '  %-16s %s\n' "${missing_packages[i]}" "${missing_reasons[i]}"
    done
    if ! has apt-get >/dev/null; then
        echo "There is no apt-get here: install these with your system's package manager, then run again." >&2
        return 1
    fi
    local as_root=(env)
    if [ "$(id -u)" -ne 0 ]; then
        if ! has sudo >/dev/null; then
            echo "Not root and no sudo here. As root, run: apt-get install ${missing_packages[*]}" >&2
            return 1
        fi
        as_root=(sudo env)
    fi
    local apt=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
    echo "Installing them: apt-get install ${missing_packages[*]}"
    "${apt[@]}" update || echo "apt-get update failed; trying with the lists that are here" >&2
    "${apt[@]}" install --no-install-recommends "${missing_packages[@]}" || {
        echo "apt-get could not install: ${missing_packages[*]}" >&2
        return 1
    }
    missing_packages=()
    missing_reasons=()
}

# A compiler cache is used where there is one.
if has ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER-ccache}"
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
fi

# build_preset PRESET TARGET [CMAKE_OPTION...]: configures and builds in the current folder, quietly; on failure shows
# the end of the log.
build_preset() {
    local preset=$1 target=$2 log=build/$1.log cache=build/$1/CMakeCache.txt
    shift 2
    mkdir -p build
    # A cache that came with a copied or moved tree names another folder; CMake would refuse it.
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" "$cache"; then
        rm -rf "build/$preset"
    fi
    local generator=() # Ninja, where it is: make takes a process more for each file, and waits between targets
    if [ ! -f "$cache" ] && has ninja >/dev/null; then
        generator=(-G "${CMAKE_GENERATOR:-Ninja}")
    fi
    echo "Building $target of preset $preset (log: $log)"
    if ! { cmake --preset "$preset" "${generator[@]}" "$@" &&
        cmake --build --preset "$preset" --target "$target" --parallel "$(nproc)"; } >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        echo "The build of preset $preset failed; the whole log is $PWD/$log" >&2
        return 1
    fi
}
