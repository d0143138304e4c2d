# The Python package: see make.sh.
python=${PYTHON:-python3}
made=$work/wheel
rm -rf "$made/plain" "$made/repaired" "$made/venv"
put_sources "$made" # a build folder inside stays
"$python" -m pip wheel --quiet --no-deps --config-settings=build-dir="${build:-$made/src/build/wheel}" \
    -w "$made/plain" "$made/src/src/python" > "$out/wheel-build.log" 2>&1 || fail_with_log "$out/wheel-build.log"
name=$(ls "$made"/plain/smempipe-*.whl)
if "$python" -m auditwheel --version > /dev/null 2>&1; then
    PATH="$(dirname "$(command -v "$python")"):$PATH" "$python" -m auditwheel repair -w "$made/repaired" "$name" \
        > "$out/wheel.log" 2>&1 || fail_with_log "$out/wheel.log"
    name=$(ls "$made"/repaired/smempipe-*.whl)
    "$python" "$made/src/$here/bundle.py" --wheel "$name"
else
    echo "there is no auditwheel: the wheel wants the libraries that it was linked with" >&2
fi
rm -f "$out"/smempipe-*.whl
cp "$name" "$out/"
"$python" -m venv "$made/venv"
"$made/venv/bin/pip" install --quiet numpy
list_files "$made/venv" > "$made/before"
"$made/venv/bin/pip" install --quiet "$name"
(cd "$made" && env -u SMEMPIPE_LIBRARY PATH=/usr/bin:/bin venv/bin/python - "$OLDPWD/samples/chelsea.png" <<'END'
import subprocess, sys, sysconfig
import numpy, smempipe
picture = numpy.arange(300, dtype=numpy.uint8).reshape(10, 30)
assert (smempipe.run("invert", picture) == 255 - picture).all()
command = sysconfig.get_path("scripts") + "/smempipe"
assert smempipe.version in subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
subprocess.run([command, "run", "blur", sys.argv[1], "blurred.jpg", "--report"], check=True)
assert smempipe.probe("blurred.jpg")["width"] == 451
END
) > "$out/wheel-try.log" 2>&1 || fail_with_log "$out/wheel-try.log"
"$made/venv/bin/pip" uninstall --quiet --yes smempipe
left=$(list_files "$made/venv" | comm -13 "$made/before" -)
[ -z "$left" ] || { printf 'left after the removal:\n%s\n' "$left" >&2; exit 1; }
echo "$out/${name##*/}: installed, run and removed"
