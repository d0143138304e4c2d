// Conversions to and from floats of 16 and 8 bits, two at a time too, and what compares and bounds them: "narrow.cu:
// right" if they have the bits of CUDA's own functions for the host.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

enum { N = 1 << 16 };
typedef unsigned short u16;
constexpr __nv_fp8_interpretation_t E4M3 = __NV_E4M3, E5M2 = __NV_E5M2;

struct results {
    u16 of_floats[2], of_halves[2], rz, relu, whole[2], below;
    unsigned of_bytes[2], set, least;
    int truncated;
};

static __host__ __device__ float number(unsigned i) // of every sign and size
{
    const unsigned bits = i * 2654435761u;
    float f;
    memcpy(&f, &bits, 4);
    return i % 4 ? f : (float)(int)(bits >> 12) / 4096 - 128;
}
template <class To, class From> static __host__ __device__ To bits_of(From from)
{
    To to;
    static_assert(sizeof to == sizeof from, "");
    memcpy(&to, &from, sizeof to);
    return to;
}
static __host__ __device__ void convert(unsigned i, results *r)
{
    const float x = number(i), y = number(i + 77);
    const u16 pattern = i;
    const __half2_raw halves = {pattern, (u16)(i * 40503)};
    const __nv_bfloat16 p = __float2bfloat16(x), q = __float2bfloat16(y);
    r->of_floats[0] = __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, E4M3);
    r->of_floats[1] = __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, E5M2);
    r->of_halves[0] = __nv_cvt_halfraw2_to_fp8x2(halves, __NV_SATFINITE, E4M3);
    r->of_halves[1] = __nv_cvt_halfraw2_to_fp8x2(halves, __NV_SATFINITE, E5M2);
    r->of_bytes[0] = bits_of<unsigned>(__nv_cvt_fp8x2_to_halfraw2(pattern, E4M3));
    r->of_bytes[1] = bits_of<unsigned>(__nv_cvt_fp8x2_to_halfraw2(pattern, E5M2));
    r->rz = bits_of<u16>(__float2bfloat16_rz(x));
    r->whole[0] = bits_of<u16>(__uint2half_rz(i * 3));
    r->whole[1] = bits_of<u16>(__int2bfloat16_rn((int)(i * 2654435761u)));
    r->truncated = __bfloat162int_rz(p);
    const __half2 a = bits_of<__half2>(halves), b = __floats2half2_rn(1, -2);
    r->set = bits_of<unsigned>(__hgt2(a, b)) ^ __heq2_mask(a, a) ^ __hneu2_mask(a, b);
    const __nv_bfloat162 u(p, q), v(q, p);
    r->least =
        bits_of<unsigned>(__hmin2(u, v)) ^ bits_of<unsigned>(__hmax2_nan(u, v)) ^ bits_of<unsigned>(__hltu2(u, v));
#ifdef __CUDA_ARCH__
    r->below = bits_of<u16>(hfloor(bits_of<__half>(pattern)));
    r->relu = bits_of<u16>(__hfma_relu(p, q, p));
#else
    const float first = __bfloat162float(p), second = __bfloat162float(q);
    float sum = fmaf(first, second, first);
    if ((bits_of<unsigned>(sum) & 0xffff) == 0x8000) { // half way, unless the sum was rounded to that
        const double rest = (double)first * second - sum + first;
        sum = rest ? nextafterf(sum, rest > 0 ? INFINITY : -INFINITY) : sum;
    }
    r->relu = sum <= 0 ? 0 : bits_of<u16>(__float2bfloat16(sum));
    r->below = bits_of<u16>(__float2half(floorf(__half2float(bits_of<__half>(pattern)))));
#endif
}
__global__ void on_device(results *r)
{
    convert(blockIdx.x * blockDim.x + threadIdx.x, r + blockIdx.x * blockDim.x + threadIdx.x);
}

int main()
{
    results *r;
    int wrong = 0, told[sizeof *r / 2] = {};
    cudaMallocManaged(&r, N * sizeof *r);
    memset(r, 0, N * sizeof *r);
    on_device<<<N / 256, 256>>>(r);
    cudaDeviceSynchronize();
    for (unsigned i = 0; i < N; i++) {
        results own = {};
        convert(i, &own);
        const u16 nan_bytes = 0x7f7f; // the host keeps a NaN's sign
        for (int k = 0; k < 2; k++) {
            if (std::isnan(number(i)) || std::isnan(number(i + 77)))
                own.of_floats[k] = r[i].of_floats[k];
            for (int byte = 0; byte < 16; byte += 8)
                if ((i * (byte ? 40503 : 1) & 0x7fff) > 0x7c00 &&
                    (r[i].of_halves[k] >> byte & 255) == (nan_bytes & 255))
                    own.of_halves[k] = (own.of_halves[k] & ~(255 << byte)) | (0x7f << byte);
        }
        for (size_t k = 0; k < sizeof own / 2; k++)
            if (((u16 *)&own)[k] != ((u16 *)&r[i])[k] && ++wrong && told[k]++ < 5)
                printf("%u: word %zu is %04x, not %04x\n", i, k, ((u16 *)&r[i])[k], ((u16 *)&own)[k]);
    }
    if (!wrong)
        puts("narrow.cu: right");
    return wrong != 0;
}
