# Images: see make.sh.
command -v docker > /dev/null && docker info > /dev/null 2>&1 || { echo "docker: no daemon answers here" >&2; exit 1; }
for kind in cpu cuda; do
    docker build -q -t "smempipe:$kind" -f "$here/docker/$kind.Dockerfile" . > "$out/docker-$kind.log" 2>&1 ||
        fail_with_log "$out/docker-$kind.log"
    docker run --rm -v "$PWD/samples:/data:ro" "smempipe:$kind" run blur /data/chelsea.png - --format png --device cpu |
        docker run --rm -i "smempipe:$kind" info - > "$out/docker-$kind-try.log" 2>&1 ||
        fail_with_log "$out/docker-$kind-try.log"
    echo "smempipe:$kind: made and run"
done
