# .deb packages for a release of Debian or Ubuntu: see make.sh.
release=$target
if [ -z "$build" ]; then
    builder "$release"
    build=$builder/build
    chroot "$builder" bash -euc 'cd /build && rm -rf packages && cpack -G DEB' > "$out/$release-pack.log" 2>&1 ||
        fail_with_log "$out/$release-pack.log"
else
    (cd "$build" && rm -rf packages && cpack -G DEB) > "$out/$release-pack.log" 2>&1 ||
        fail_with_log "$out/$release-pack.log"
fi
mkdir -p "$out/$release"
rm -f "$out/$release"/*.deb
cp "$build"/packages/*.deb "$out/$release/"
check_parts "$out/$release"/*.deb
if command -v lintian > /dev/null; then
    lintian --allow-root --fail-on error,warning "$out/$release"/*.deb > "$out/$release-lintian.log" 2>&1 ||
        { cat "$out/$release-lintian.log" >&2; exit 1; }
fi

system "$release" "$work/$release/user"
user=$work/$release/user
list_files "$user" > "$work/$release/before"
mkdir "$user/tmp/try"
cp "$out/$release"/*.deb samples/chelsea.png samples/rocket.jpg samples/speech.flac "$user/tmp/try/"
chroot "$user" bash -euc '
    cd /tmp/try
    apt-get -qy install --no-install-recommends ./*.deb
    ldconfig -p | grep -q libsmempipe.so.1
    test -e /usr/include/smempipe.h
    smempipe --version -v
    smempipe run blur chelsea.png blurred.png --report
    smempipe run podcast speech.flac speech.wav
    smempipe compare -e "transpose" chelsea.png --device simt > compare.txt
    grep -q padded compare.txt
    smempipe stages > stages.txt
    grep -q SPDX-2.3 /usr/share/doc/smempipe/smempipe.spdx.json
    apt-get -qy purge "smempipe*" "libsmempipe*"
    apt-get -qy autoremove --purge' > "$out/$release-try.log" 2>&1 || fail_with_log "$out/$release-try.log"
check_left "$work/$release/before" "$user"
rm -rf --one-file-system "$user"
echo "$release: $(cd "$out/$release" && ls *.deb | tr '\n' ' ')installed, run and removed"
