# A .tar.gz that runs where it is unpacked, with the libraries that it needs but glibc and the C++ library: see make.sh.
# It is made on the oldest release, and tried on bare systems of both.
release=bookworm
if [ -z "$build" ]; then
    builder "$release"
    chroot "$builder" bash -euc 'rm -rf /bundle && python3 /src/src/packages/bundle.py /build /bundle' \
        > "$out/tar-pack.log" 2>&1 || fail_with_log "$out/tar-pack.log"
    bundle=$builder/bundle
else
    rm -rf "$work/bundle"
    python3 $here/bundle.py "$build" "$work/bundle" > "$out/tar-pack.log" 2>&1 || fail_with_log "$out/tar-pack.log"
    bundle=$work/bundle
fi
rm -f "$out"/smempipe-*.tar.gz
tar=$out/$(ls "$bundle").tar.gz
tar -C "$bundle" --owner=0 --group=0 --sort=name --mtime="@$(git log -1 --format=%ct)" -cf - "$(ls "$bundle")" |
    gzip -9n > "$tar"
for release in bookworm noble; do
    user=$work/$release/user-tar
    (system "$release" "$user") || { echo "tar: not tried on $release" >&2; continue; }
    list_files "$user" > "$work/$release/before-tar"
    mkdir "$user/tmp/try"
    cp "$tar" samples/chelsea.png samples/speech.flac "$user/tmp/try/"
    # Programs find what lies beside them by /proc, which is mounted for this command alone.
    unshare --mount bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" bash -euc "$1"' "$user" '
        cd /tmp/try
        tar -xzf smempipe-*.tar.gz
        rm smempipe-*.tar.gz
        cd smempipe-*
        bin/smempipe --version -v
        bin/smempipe run blur ../chelsea.png ../blurred.webp --report
        bin/smempipe run podcast ../speech.flac ../speech.wav
        bin/smempipe compare -e transpose ../chelsea.png --device simt | grep padded' \
        > "$out/tar-$release-try.log" 2>&1 || fail_with_log "$out/tar-$release-try.log"
    check_left "$work/$release/before-tar" "$user" # it writes beside itself alone
    rm -rf --one-file-system "$user"
    echo "$tar: unpacked and run on a bare $release"
done
