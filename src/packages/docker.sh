# Images: see make.sh. Where no docker runs, buildah makes and tries them without a daemon; and where no registry
# answers, bare systems of the same releases stand for the base images, that of CUDA with the toolkit of this machine.
put_sources "$work/images"
made=$work/images/src archs=${CUDA_ARCHS:-all}
if docker info > /dev/null 2>&1; then
    with=docker
    make_image() { docker build -q -t "$1" -f "$2" --build-arg CUDA_ARCHS="$archs" "$made"; }
    in_image() { docker run --rm -i -v "$PWD/samples:/data:ro" "$@"; }
elif command -v buildah > /dev/null; then
    with=buildah
    images() { buildah --root "$work/images/root" --runroot "$work/images/run" --storage-driver vfs "$@"; }
    make_image() {
        images bud --isolation chroot --pull-never -t "$1" -f "$2" --build-arg CUDA_ARCHS="$archs" "$made"
    }
    in_image() { # as docker run: the command that the image names
        local image=$1 one entry done=0
        shift
        entry=$(images inspect --type image --format '{{join .OCIv1.Config.Entrypoint " "}}' "$image")
        one=$(images from --pull-never "$image")
        images run --isolation chroot -v "$PWD/samples:/data:ro" "$one" -- $entry "$@" || done=$?
        images rm "$one" > /dev/null
        return $done
    }
    base() { # base IMAGE RELEASE
        local one at toolkit
        ! images inspect --type image "$1" > /dev/null 2>&1 || return 0
        ! images pull -q "$1" > /dev/null 2>&1 || return 0
        with="buildah, on debootstrap's $2 for ${1##*/}"
        system "$2" "$work/images/base"
        one=$(images from scratch)
        at=$(images mount "$one")
        cp -a "$work/images/base/." "$at/"
        rm -rf --one-file-system "$work/images/base"
        if [[ $1 == *nvidia/* ]]; then
            toolkit=$(realpath "${CUDA_HOME:-/usr/local/cuda}")
            [ -x "$toolkit/bin/nvcc" ] || { echo "docker: no registry answers, and no CUDA is here" >&2; exit 1; }
            mkdir -p "$at/usr/local/cuda"
            cp -a "$toolkit/." "$at/usr/local/cuda/"
        fi
        images umount "$one" > /dev/null
        images commit -q --rm "$one" "$1" > /dev/null
    }
else
    echo "docker: no daemon answers here, and there is no buildah" >&2
    exit 1
fi
for kind in ${IMAGES:-cpu cuda}; do
    log=$out/docker-$kind.log
    if [[ $with != docker ]]; then
        for name in $(sed -n 's/^FROM \([^ ]*\).*/\1/p' "$here/docker/$kind.Dockerfile" | sort -u); do
            release=bookworm
            [[ $name != *ubuntu* ]] || release=noble
            [[ $name == */* ]] || name=library/$name
            base "docker.io/$name" "$release"
        done
    fi
    make_image "smempipe:$kind" "$here/docker/$kind.Dockerfile" > "$log" 2>&1 || fail_with_log "$log"
    {
        in_image "smempipe:$kind" --version -v
        in_image "smempipe:$kind" run blur /data/chelsea.png - --format png --device cpu > "$work/images/blurred.png"
        in_image "smempipe:$kind" info - < "$work/images/blurred.png" | tee /dev/stderr | grep -q 'png.*451'
    } > "$out/docker-$kind-try.log" 2>&1 || fail_with_log "$out/docker-$kind-try.log"
    echo "smempipe:$kind: made and run ($with)"
done
