# .deb packages for 64-bit ARM on Debian 12, cross-compiled with the libraries of that architecture: see make.sh. They
# are tried in a fresh system that has arm64 as a second architecture, so that the kernel need not know of it: apt
# installs them with the libraries of arm64 that they depend on, and qemu-user runs the command.
release=bookworm
builder=$work/arm64/builder
[ -e "$builder/build/CMakeCache.txt" ] || { mkdir -p "$work/arm64" && system "$release" "$builder"; }
put_sources "$builder"
chroot "$builder" bash -euc '
    dpkg --add-architecture arm64
    apt-get -q update
    apt-get -qy install --no-install-recommends crossbuild-essential-arm64 cmake make pkg-config dpkg-dev file python3 \
        zlib1g-dev:arm64 libpng-dev:arm64 libjpeg-dev:arm64 libtiff-dev:arm64 libzstd-dev:arm64 \
        libwebp-dev:arm64 libheif-dev:arm64 libgif-dev:arm64 libsndfile1-dev:arm64 libmpg123-dev:arm64 \
        libisal-dev:arm64 libavformat-dev:arm64 libmicrohttpd-dev:arm64 libharfbuzz-dev:arm64 libfontconfig-dev:arm64
    cd /src
    cmake --preset aarch64 -B /build -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib/aarch64-linux-gnu \
        -DSMP_TESTS=OFF -DSMP_PACKAGER="$0" -DCPACK_DEBIAN_PACKAGE_ARCHITECTURE=arm64
    cmake --build /build -j "${JOBS:-$(nproc)}"
    cd /build
    rm -rf packages
    DEB_HOST_ARCH=arm64 cpack -G DEB' "$(git log -1 --format='%an <%ae>')" > "$out/arm64-build.log" 2>&1 ||
    fail_with_log "$out/arm64-build.log"
mkdir -p "$out/arm64"
rm -f "$out/arm64"/*.deb
cp "$builder"/build/packages/*.deb "$out/arm64/"
check_parts "$out/arm64"/*.deb
if command -v lintian > /dev/null; then
    lintian --allow-root --fail-on error,warning "$out/arm64"/*.deb > "$out/arm64-lintian.log" 2>&1 ||
        { cat "$out/arm64-lintian.log" >&2; exit 1; }
fi

system "$release" "$work/arm64/user"
user=$work/arm64/user
chroot "$user" bash -euc '
    dpkg --add-architecture arm64
    apt-get -q update
    apt-get -qy install --no-install-recommends qemu-user-static libc6:arm64' > "$out/arm64-try.log" 2>&1 ||
    fail_with_log "$out/arm64-try.log"
list_files "$user" > "$work/arm64/before"
mkdir "$user/tmp/try"
cp "$out/arm64"/*.deb samples/chelsea.png samples/speech.flac "$user/tmp/try/"
chroot "$user" bash -euc '
    cd /tmp/try
    apt-get -qy install --no-install-recommends ./*.deb
    test -e /usr/lib/aarch64-linux-gnu/libsmempipe.so.1
    test -e /usr/include/smempipe.h
    emulated() { qemu-aarch64-static /usr/bin/smempipe "$@"; }
    emulated --version -v
    emulated run blur chelsea.png blurred.png --report --no-sandbox
    emulated run podcast speech.flac speech.wav --no-sandbox
    emulated stages > stages.txt
    grep -q SPDX-2.3 /usr/share/doc/smempipe/smempipe.spdx.json
    apt-get -qy purge smempipe:arm64 "libsmempipe*:arm64"
    apt-get -qy autoremove --purge' >> "$out/arm64-try.log" 2>&1 || fail_with_log "$out/arm64-try.log"
check_left "$work/arm64/before" "$user"
rm -rf --one-file-system "$user"
echo "arm64: $(cd "$out/arm64" && ls *.deb | tr '\n' ' ')installed, run by qemu and removed"
