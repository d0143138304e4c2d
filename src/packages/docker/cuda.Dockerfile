# The command with kernels for NVIDIA GPUs. The driver comes from the host (NVIDIA Container Toolkit). From the
# repository's root:
#   docker build -t smempipe:cuda -f src/packages/docker/cuda.Dockerfile .
#   docker run --rm --gpus all -v "$PWD:/work" smempipe:cuda run blur in.png out.png --device cuda
FROM nvidia/cuda:12.6.3-devel-ubuntu24.04 AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    gcc g++ make cmake pkg-config file python3 zlib1g-dev libpng-dev libjpeg-dev libisal-dev libtiff-dev libzstd-dev \
    libwebp-dev libheif-dev libgif-dev libsndfile1-dev libmpg123-dev libavformat-dev
COPY . /src
RUN cmake -S /src -B /build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DSMP_TESTS=OFF -DSMP_CUDA=ON \
    && cmake --build /build -j "$(nproc)" && cd /build && cpack -G DEB

FROM ubuntu:24.04
COPY --from=build /build/packages/ /tmp/packages/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/packages/*.deb \
    && rm -rf /tmp/packages /var/lib/apt/lists/*
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /work
ENTRYPOINT ["smempipe"]
