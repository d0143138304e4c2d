// Textures: "textures.cu: right" if each fetch gives what CUDA's guide says; "wild" reads by no handle,
// "beyond" stores outside a surface.
#include <cmath>
#include <cstdio>
#include <cstring>

enum { W = 8, H = 4, N = 64 };

__global__ void linear(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x - 1); }
__global__ void bytes(cudaTextureObject_t t, uchar4 *out)
{
    out[threadIdx.x] = tex2D<uchar4>(t, threadIdx.x % W, threadIdx.x / W);
}
__global__ void fractions(cudaTextureObject_t t, float4 *out) { out[0] = tex2D<float4>(t, 1.5f, 2.5f); }
__global__ void filtered(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2D<float>(t, ((int)threadIdx.x - 4) * 0.5f, 1.25f);
}
__global__ void repeated(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2D<float>(t, (threadIdx.x + 0.5f) / W - 2, 0.125f);
}

enum { D = 3, SIDE = 4, FACES = 6 };
__global__ void deep(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex3D<float>(t, threadIdx.x + 0.5f, 1.5f, 2.f);
    out[32 + threadIdx.x] = tex3DLod<float>(t, threadIdx.x + 0.5f, 1.5f, 1.5f, 0.f);
}
__global__ void layered(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % W + 0.5f, 3.5f, (int)threadIdx.x / W - 1);
}
__global__ void around(cudaTextureObject_t t, float *out)
{
    const int face = threadIdx.x, sign = face % 2 ? -1 : 1;
    const float v[3] = {face / 2 == 0 ? sign : 0.75f, face / 2 == 1 ? sign : -0.75f, face / 2 == 2 ? sign : 0.25f};
    out[face] = texCubemap<float>(t, v[0], v[1], v[2]);
}
__global__ void stored(cudaSurfaceObject_t s, int *read)
{
    const int x = threadIdx.x, z = threadIdx.y;
    surf3Dwrite<short2>(make_short2(x, -z), s, x * sizeof(short2), 1, z);
    surf3Dwrite<short2>(make_short2(99, 99), s, -4, 0, z, cudaBoundaryModeZero);
    surf3Dwrite<short2>(make_short2(7, z), s, W * sizeof(short2) + 8 * x, 9, z, cudaBoundaryModeClamp);
    __syncthreads();
    const short2 back = surf3Dread<short2>(s, (W - 1 - x) * sizeof(short2), 1, z);
    const short2 outside = surf3Dread<short2>(s, 0, H, z, cudaBoundaryModeZero);
    read[z * W + x] = back.x + 100 * -back.y + outside.x;
}
__global__ void beyond(cudaSurfaceObject_t s) { surf2Dwrite<float>(1, s, threadIdx.x * 4, 0); }

static int wrong;
static void check(bool good, const char *what)
{
    if (!good)
        printf("%s: wrong\n", what), wrong++;
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureAddressMode address, cudaTextureFilterMode filter,
                                      bool normalized, cudaTextureReadMode mode = cudaReadModeElementType)
{
    cudaResourceDesc from = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t t = 0;
    from.resType = cudaResourceTypeArray;
    from.res.array.array = array;
    for (int i = 0; i < 3; i++)
        how.addressMode[i] = address;
    how.filterMode = filter;
    how.normalizedCoords = normalized;
    how.readMode = mode;
    check(!cudaCreateTextureObject(&t, &from, &how, nullptr), "cudaCreateTextureObject");
    return t;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    cudaResourceDesc of = {};
    cudaSurfaceObject_t s = 0;
    of.resType = cudaResourceTypeArray;
    of.res.array.array = array;
    check(!cudaCreateSurfaceObject(&s, &of), "cudaCreateSurfaceObject");
    return s;
}

static cudaArray_t filled(cudaExtent size, unsigned flags, const float *values)
{
    cudaArray_t array = nullptr;
    cudaMemcpy3DParms copy = {};
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    check(!cudaMalloc3DArray(&array, &one, size, flags), "cudaMalloc3DArray");
    copy.srcPtr = make_cudaPitchedPtr((void *)values, size.width * 4, size.width, size.height);
    copy.dstArray = array;
    copy.extent = size;
    copy.kind = cudaMemcpyHostToDevice;
    check(!cudaMemcpy3D(&copy), "cudaMemcpy3D");
    return array;
}

static void volumes(float *out)
{
    float host[W * H * D];
    for (int i = 0; i < W * H * D; i++)
        host[i] = i;
    deep<<<1, W>>>(texture_of(filled(make_cudaExtent(W, H, D), 0, host), cudaAddressModeClamp, cudaFilterModeLinear,
                              false), out);
    cudaDeviceSynchronize();
    check(out[0] == 1.5f * W * H + W && out[7] == out[0] + 7 && out[33] == W * H + W + 1, "a volume");
    layered<<<1, W * 5>>>(texture_of(filled(make_cudaExtent(W, H, D), cudaArrayLayered, host), cudaAddressModeClamp,
                                     cudaFilterModePoint, false), out);
    cudaDeviceSynchronize();
    check(out[W + 1] == 3 * W + 1 && out[2 * W] == 7 * W && out[3 * W + 7] == 11 * W + 7, "layers");
    check(out[4 * W] == 11 * W, "a layer behind the last");
    check(out[1] == 11 * W + 1, "a layer before the first, whose number has no sign");
    around<<<1, FACES>>>(texture_of(filled(make_cudaExtent(SIDE, SIDE, FACES), cudaArrayCubemap, host),
                                    cudaAddressModeWrap, cudaFilterModePoint, true), out);
    cudaDeviceSynchronize();
    const int places[FACES] = {13, 14, 11, 7, 15, 12}; // row and column of what (0.75, -0.75, 0.25) meets
    for (int i = 0; i < FACES; i++)
        check(out[i] == i * SIDE * SIDE + places[i], "a cube map");
}

static void surfaces(int *out, bool outside)
{
    cudaArray_t array;
    cudaChannelFormatDesc two = cudaCreateChannelDesc<short2>();
    check(!cudaMalloc3DArray(&array, &two, make_cudaExtent(W, H, D), cudaArraySurfaceLoadStore), "an array");
    stored<<<1, dim3(W, D)>>>(surface_of(array), out);
    cudaDeviceSynchronize();
    check(out[0] == 7 && out[7] == 0 && out[2 * W + 3] == 204, "surfaces");
    short2 back[4 * (D + 1)];
    cudaMemcpy3DParms copy = {};
    copy.srcArray = array;
    copy.srcPos = make_cudaPos(W - 1, H - 1, 0);
    copy.dstPtr = make_cudaPitchedPtr(back, sizeof *back, 1, 1);
    copy.extent = make_cudaExtent(1, 1, D);
    copy.kind = cudaMemcpyDeviceToHost;
    check(!cudaMemcpy3D(&copy) && back[0].x == 7 && back[2].y == 2, "an array that surfaces wrote");
    copy.dstPtr = make_cudaPitchedPtr(back, 2 * sizeof *back, 2, 2);
    for (const cudaExtent extent : {make_cudaExtent(2, 1, D), make_cudaExtent(1, 2, D), make_cudaExtent(1, 1, D + 1)}) {
        copy.extent = extent;
        check(cudaMemcpy3D(&copy) == cudaErrorInvalidValue, "a copy beyond an array");
    }
    if (outside)
        beyond<<<1, 9>>>(surface_of(array));
}

int main(int count, char **words)
{
    float host[N], *out;
    for (int i = 0; i < N; i++)
        host[i] = i * i;
    cudaMallocManaged(&out, N * sizeof(float4));
    if (count > 1 && !strcmp(words[1], "wild")) {
        linear<<<1, 1>>>(12345, out);
        return 0;
    }
    float *buffer;
    cudaMalloc(&buffer, sizeof host);
    cudaMemcpy(buffer, host, sizeof host, cudaMemcpyHostToDevice);
    cudaResourceDesc from = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t t;
    from.resType = cudaResourceTypeLinear;
    from.res.linear = {buffer, cudaCreateChannelDesc<float>(), sizeof host};
    cudaCreateTextureObject(&t, &from, &how, nullptr);
    linear<<<1, 32>>>(t, out);
    cudaDeviceSynchronize();
    check(out[0] == 0 && out[1] == 0 && out[31] == 900, "tex1Dfetch");

    cudaArray_t flat, colours;
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>(), four = cudaCreateChannelDesc<uchar4>();
    cudaMallocArray(&flat, &one, W, H);
    cudaMallocArray(&colours, &four, W, H);
    cudaMemcpyToArray(flat, 0, 0, host, W * H * 4, cudaMemcpyHostToDevice);
    unsigned char points[H][W][4];
    for (int i = 0; i < H * W * 4; i++)
        points[0][0][i] = i;
    cudaMemcpy2DToArray(colours, 0, 0, points, W * 4, W * 4, H, cudaMemcpyHostToDevice);
    bytes<<<1, W * H>>>(texture_of(colours, cudaAddressModeClamp, cudaFilterModePoint, false), (uchar4 *)out);
    cudaDeviceSynchronize();
    check(!memcmp(out, points, sizeof points), "uchar4");
    check(cudaMemcpy2DToArray(colours, W * 2, 0, points, W * 4, W * 4, H, cudaMemcpyHostToDevice) &&
              cudaMemcpy2DFromArray(points, W * 8, colours, 0, 0, W * 8, H, cudaMemcpyDeviceToHost),
          "rows beyond an array");
    cudaArray_t none;
    cudaChannelFormatDesc odd = {32, 248, 0, 0, cudaChannelFormatKindUnsigned};
    check(cudaMallocArray(&none, &odd, W, H), "a channel of 248 bits");
    cudaGetLastError();
    t = texture_of(colours, cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
    fractions<<<1, 1>>>(t, (float4 *)out);
    cudaDeviceSynchronize();
    check(fabsf(out[0] - 68 / 255.f) < 1e-6f && fabsf(out[3] - 71 / 255.f) < 1e-6f, "fractions");
    filtered<<<1, 32>>>(texture_of(flat, cudaAddressModeClamp, cudaFilterModeLinear, false), out);
    cudaDeviceSynchronize();
    check(out[0] == 0.75f * 64 && out[31] == 0.25f * 49 + 0.75f * 225 && out[8] == 0.25f * 2.5f + 0.75f * 90.5f,
          "a linear filter");
    repeated<<<1, 32>>>(texture_of(flat, cudaAddressModeWrap, cudaFilterModePoint, true), out);
    cudaDeviceSynchronize();
    check(out[0] == 0 && out[3] == 9 && out[11] == 9, "an address that wraps");
    repeated<<<1, 32>>>(texture_of(flat, cudaAddressModeMirror, cudaFilterModePoint, true), out);
    cudaDeviceSynchronize();
    check(out[0] == 0 && out[9] == 36 && out[24] == 49, "an address that is mirrored");
    cudaExtent size;
    check(!cudaArrayGetInfo(nullptr, &size, nullptr, flat) && size.width == W && size.height == H && !size.depth,
          "cudaArrayGetInfo");
    float back[4];
    cudaMemcpy2DFromArray(back, 16, flat, 4 * 4, 1, 16, 1, cudaMemcpyDeviceToHost);
    check(back[0] == 144 && back[3] == 225, "cudaMemcpy2DFromArray");
    check(!cudaDestroyTextureObject(t), "cudaDestroyTextureObject");
    volumes(out);
    surfaces((int *)out, count > 1 && !strcmp(words[1], "beyond"));
    if (!wrong)
        puts("textures.cu: right");
    return wrong;
}
