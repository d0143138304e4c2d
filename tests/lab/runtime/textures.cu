// Textures: "textures.cu: right" if each fetch gives what CUDA's guide says; "wild" reads by no handle.
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
    float back[4];
    cudaMemcpy2DFromArray(back, 16, flat, 4 * 4, 1, 16, 1, cudaMemcpyDeviceToHost);
    check(back[0] == 144 && back[3] == 225, "cudaMemcpy2DFromArray");
    check(!cudaDestroyTextureObject(t), "cudaDestroyTextureObject");
    if (!wrong)
        puts("textures.cu: right");
    return wrong;
}
