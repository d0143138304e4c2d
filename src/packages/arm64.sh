# .deb packages for 64-bit ARM on Debian 12, cross-compiled with the libraries of that architecture: see make.sh. They
# are tried in a system of arm64 by qemu-user where the kernel knows it (binfmt_misc), else the command alone is run, in
# the builder.
release=bookworm
builder=$work/arm64/builder
[ -e "$builder/build/CMakeCache.txt" ] || { mkdir -p "$work/arm64" && system "$release" "$builder"; }
put_sources "$builder"
chroot "$builder" bash -euc '
    dpkg --add-architecture arm64
    apt-get -q update
    apt-get -qy install --no-install-recommends crossbuild-essential-arm64 cmake make pkg-config dpkg-dev file python3 \
        qemu-user-static zlib1g-dev:arm64 libpng-dev:arm64 libjpeg-dev:arm64 libtiff-dev:arm64 libzstd-dev:arm64 \
        libwebp-dev:arm64 libheif-dev:arm64 libgif-dev:arm64 libsndfile1-dev:arm64 libmpg123-dev:arm64 \
        libisal-dev:arm64 libavformat-dev:arm64
    cd /src
    cmake --preset aarch64 -B /build -DCMAKE_INSTALL_PREFIX=/usr -DSMP_TESTS=OFF -DSMP_PACKAGER="$0" \
        -DCPACK_DEBIAN_PACKAGE_ARCHITECTURE=arm64
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
cp samples/chelsea.png "$builder/tmp/"
chroot "$builder" bash -euc '
    cd /tmp
    rm -rf root && mkdir root
    for deb in /build/packages/*.deb; do dpkg-deb -x "$deb" root; done
    emulated() { qemu-aarch64-static -L / -E LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu "$@"; }
    emulated root/usr/bin/smempipe --version -v
    emulated root/usr/bin/smempipe run root/usr/share/smempipe/pipelines/blur.pipe chelsea.png blurred.png --force \
        --no-sandbox' > "$out/arm64-try.log" 2>&1 || fail_with_log "$out/arm64-try.log"
echo "arm64: $(cd "$out/arm64" && ls *.deb | tr '\n' ' ')made and run by qemu"
