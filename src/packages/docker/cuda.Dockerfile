# The command with kernels for NVIDIA GPUs of each generation since Turing. The driver comes from the host (NVIDIA
# Container Toolkit). From the repository's root:
#   docker build -t smempipe:cuda -f src/packages/docker/cuda.Dockerfile .
#   docker run --rm --gpus all -v "$PWD:/work" smempipe:cuda run blur in.png out.png --device cuda
# For one generation alone, which takes less time: --build-arg CUDA_ARCHS=90
FROM nvidia/cuda:12.6.3-devel-ubuntu24.04 AS build
ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends \
    gcc g++ ninja-build cmake pkg-config dpkg-dev file python3 zlib1g-dev libpng-dev libjpeg-dev libisal-dev \
    libtiff-dev libzstd-dev libwebp-dev libheif-dev libgif-dev libsndfile1-dev libmpg123-dev libavformat-dev \
    libjxl-dev libopenjp2-7-dev libraw-dev libmicrohttpd-dev libharfbuzz-dev libfontconfig-dev
COPY . /src
ARG CUDA_ARCHS=all
WORKDIR /src
RUN cmake --preset release -G Ninja -DCMAKE_INSTALL_PREFIX=/usr -DSMP_TESTS=OFF -DSMP_CUDA=ON \
        -DSMP_CUDA_ARCHS="$CUDA_ARCHS" \
    && cmake --build build/release -j "$(nproc)" && cd build/release && cpack -G DEB

FROM ubuntu:24.04
ARG DEBIAN_FRONTEND=noninteractive
COPY --from=build /src/build/release/packages/ /tmp/packages/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/packages/*.deb libavformat60 \
    && rm -rf /tmp/packages /var/lib/apt/lists/*
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /work
ENTRYPOINT ["smempipe"]
