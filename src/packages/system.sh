# Fresh systems of a release, builders in them, and what is left after a removal; sourced by make.sh. bash.

fail_with_log() { tail -n 20 "$1" >&2; exit 1; }

# A bare system, unpacked once and copied.
system() { # system RELEASE FOLDER
    local release=$1 bare=$work/$1/bare log=$out/$1-system.log mirror=() components=main
    local scripts=/usr/share/debootstrap/scripts keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
    if [ ! -e "$bare.done" ]; then
        command -v debootstrap > /dev/null || { echo "no debootstrap here: apt-get install debootstrap" >&2; exit 1; }
        rm -rf --one-file-system "$bare"
        mkdir -p "$work/$release"
        if ! [[ $release =~ ^(bookworm|trixie|sid)$ ]]; then # Ubuntu's; debootstrap may know older ones alone
            [ -r "$keys" ] || { echo "there is no $keys: it is in Ubuntu's package ubuntu-keyring" >&2; exit 1; }
            mirror=(http://archive.ubuntu.com/ubuntu "$scripts/gutsy")
            [ ! -e "$scripts/$release" ] || mirror[1]=$scripts/$release
            components=main,universe
        fi
        debootstrap --variant=minbase --components="$components" ${mirror:+--keyring="$keys"} "$release" "$bare" \
            "${mirror[@]}" > "$log" 2>&1 || fail_with_log "$log"
        touch "$bare.done"
    fi
    rm -rf --one-file-system "$2"
    cp -a "$bare" "$2"
    cp /etc/resolv.conf "$2/etc/"
    echo force-unsafe-io > "$2/etc/dpkg/dpkg.cfg.d/unsafe-io" # a power cut may spoil a system that lives for minutes
    chroot "$2" apt-get -q update > "$log" 2>&1 || fail_with_log "$log"
}

# Puts the last commit into FOLDER/src; a file that is as before keeps its time, so that it is not compiled again, and a
# build folder in it stays.
put_sources() { # put_sources FOLDER
    local name
    mkdir -p "$1/src"
    rm -rf "$1/src.new"
    mkdir "$1/src.new"
    git archive HEAD | tar -C "$1/src.new" -xf -
    (cd "$1/src.new" && find . -type f -print0) | while IFS= read -r -d '' name; do
        if cmp -s "$1/src/$name" "$1/src.new/$name"; then touch -r "$1/src/$name" "$1/src.new/$name"; fi
    done
    [ ! -e "$1/src/build" ] || mv "$1/src/build" "$1/src.new/"
    rm -rf "$1/src"
    mv "$1/src.new" "$1/src"
}

# Builds the last commit in a system of a release, in its /build.
builder() { # builder RELEASE; sets $builder
    builder=$work/$1/builder
    [ -e "$builder/build/CMakeCache.txt" ] || system "$1" "$builder"
    put_sources "$builder"
    chroot "$builder" bash -euc '
        cd /src
        . samples/setup.sh
        need_for_build
        apt-get -qy install dpkg-dev file python3 patchelf >/dev/null
        install_missing
        cmake -S . -B /build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DSMP_TESTS=OFF -DSMP_CUDA=OFF \
            -DSMP_PACKAGER="$0"
        cmake --build /build -j "${JOBS:-$(nproc)}"' "$(git log -1 --format='%an <%ae>')" > "$out/$1-build.log" 2>&1 ||
        fail_with_log "$out/$1-build.log"
}

# The package of the system in which we built that holds the library of a package: itself, or what it stands for
# (Ubuntu's libjpeg8, which is empty, for libjpeg-turbo8).
holder_of() { # holder_of PACKAGE
    local there=()
    [ -z "${builder:-}" ] || there=(chroot "$builder")
    if [ -n "$("${there[@]}" dpkg-query -L "$1" 2> /dev/null | grep '\.so' || true)" ]; then
        echo "$1"
    else
        "${there[@]}" dpkg-query -W -f '${Depends}\n' "$1" 2> /dev/null | sed 's/[ ,].*//'
    fi
}

# Fails where a package of programs does not list each library that it depends on.
check_parts() { # check_parts DEB...
    local deb list part
    for deb; do
        [[ $deb != *-dev_* ]] || continue
        list=$(dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards './usr/share/doc/*/smempipe.spdx.json') ||
            { echo "$deb has no list of its parts (smempipe.spdx.json)" >&2; exit 1; }
        dpkg-deb -f "$deb" Depends | grep -qw libc6 || { echo "$deb depends on no library at all" >&2; exit 1; }
        for part in $(dpkg-deb -f "$deb" Depends | tr ',' '\n' | awk '{ print $1 }' |
            grep -vE '^(libc6|libgcc-s1|libstdc\+\+6)$'); do
            grep -qF "\"name\": \"$part\"" <<< "$list" ||
                grep -qF "\"name\": \"$(holder_of "$part")\"" <<< "$list" ||
                { echo "$deb depends on $part, which its list of parts lacks" >&2; exit 1; }
        done
    done
}

# The files of a system, but those that packages of any kind leave behind: caches and logs.
list_files() { # list_files FOLDER
    find "$1" -xdev \( -path "$1/var" -o -path "$1/tmp" \) -prune -o -print | sed "s#^$1##" |
        grep -v '/etc/ld.so.cache\|/__pycache__' | sort
}

# Fails where a line of what is new names smempipe; tells the rest, which other packages left.
check_left() { # check_left BEFORE FOLDER
    local left
    left=$(list_files "$2" | comm -13 "$1" -)
    [ -n "$left" ] || return 0
    echo "left after the removal (of other packages, where no line names smempipe):" >&2
    head <<< "$left" >&2
    ! grep -qi smempipe <<< "$left" || exit 1
}
