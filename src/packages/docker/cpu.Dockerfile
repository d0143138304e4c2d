# The command on CPUs. From the repository's root:
#   docker build -t smempipe -f src/packages/docker/cpu.Dockerfile .
#   docker run --rm -v "$PWD:/work" smempipe run blur in.png out.png
FROM debian:bookworm-slim AS build
ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends \
    gcc g++ ninja-build cmake pkg-config dpkg-dev file python3 zlib1g-dev libpng-dev libjpeg-dev libisal-dev \
    libtiff-dev libzstd-dev libwebp-dev libheif-dev libgif-dev libsndfile1-dev libmpg123-dev libavformat-dev \
    libjxl-dev libopenjp2-7-dev libraw-dev libmicrohttpd-dev libharfbuzz-dev libfontconfig-dev
COPY . /src
WORKDIR /src
RUN cmake --preset release -G Ninja -DCMAKE_INSTALL_PREFIX=/usr -DSMP_TESTS=OFF -DSMP_CUDA=OFF \
    && cmake --build build/release -j "$(nproc)" && cd build/release && cpack -G DEB

FROM debian:bookworm-slim
ARG DEBIAN_FRONTEND=noninteractive
COPY --from=build /src/build/release/packages/ /tmp/packages/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/packages/*.deb libavformat59 \
    && rm -rf /tmp/packages /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["smempipe"]
