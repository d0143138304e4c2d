/* Kernels for simt.c: each shows one thing that the emulator must do or must find. */
#include "lib/gpu_kernel.h"

struct simt_case {
    int32_t mode, width;
    uint32_t active;
};

/* One access of one warp: lane n at byte offset[n] of shared memory, offsets in io.table. mode: an smp_bank_op, and 10
 * for an atomic whose result is used. */
struct probe_memory {
    alignas(16) unsigned char bytes[48 * 1024];
};

SMP_KERNEL(bank_probe_f32_f32, simt_case, io, p)
{
    SMP_SHARED(probe_memory, s);
    const uint32_t *offsets = static_cast<const uint32_t *>(io.table);
    float *out = static_cast<float *>(io.out.data);
    unsigned lane = threadIdx.x;
    if (!(p.active >> lane & 1))
        return;
    unsigned char *at = s.bytes + offsets[lane];
    if (p.mode == 0) {
        if (p.width == 1)
            out[lane] = (float)*at;
        else if (p.width == 4)
            out[lane] = *reinterpret_cast<float *>(at);
        else if (p.width == 8) {
            float2 v = *reinterpret_cast<float2 *>(at);
            out[lane] = v.x + v.y;
        } else {
            float4 v = *reinterpret_cast<float4 *>(at);
            out[lane] = v.x + v.y + v.z + v.w;
        }
    } else if (p.mode == 1) {
        if (p.width == 1)
            *at = (unsigned char)lane;
        else if (p.width == 4)
            *reinterpret_cast<unsigned *>(at) = lane;
        else if (p.width == 8) {
            uint2 v = make_uint2(lane, lane);
            *reinterpret_cast<uint2 *>(at) = v;
        } else {
            uint4 v = make_uint4(lane, lane, lane, lane);
            *reinterpret_cast<uint4 *>(at) = v;
        }
    } else if (p.mode == 2) {
        atomicAdd(reinterpret_cast<unsigned *>(at), 1u);
    } else if (p.mode == 3) {
        atomicAdd(reinterpret_cast<unsigned *>(at), lane + 2);
    } else if (p.mode == 4) {
        atomicAdd(reinterpret_cast<float *>(at), 1.f);
    } else {
        unsigned old = atomicAdd(reinterpret_cast<unsigned *>(at), 1u);
        out[lane] = (float)old;
    }
}

/* A tile read by columns. mode 0: 32 wide; 1: padded to 33. */
struct plain_tile {
    float v[32][32];
};
struct padded_tile {
    float v[32][33];
};
template <typename TILE> SMP_DEVICE void column_tile(const smp_io &io)
{
    SMP_SHARED(TILE, s);
    const float *in = static_cast<const float *>(io.in.data);
    float *out = static_cast<float *>(io.out.data);
    s.v[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = s.v[threadIdx.x][threadIdx.y];
}
SMP_KERNEL(column_f32_f32, simt_case, io, p)
{
    if (p.mode)
        column_tile<padded_tile>(io);
    else
        column_tile<plain_tile>(io);
}

/* Every thread takes over its neighbour's value. mode: 0 barrier between, 1 none, 2 warp barrier inside a warp, 3 none
 * inside a warp, 4 what nobody wrote, 5 half of the block has left before the barrier, 6 barriers at two places,
 * 7 one element past the end, 8 an atomic count with a barrier, 9 the same read without one. */
struct row_memory {
    unsigned v[128];
};
SMP_KERNEL(neighbour_f32_f32, simt_case, io, p)
{
    SMP_SHARED(row_memory, s);
    unsigned *out = static_cast<unsigned *>(io.out.data);
    unsigned t = threadIdx.x, n = blockDim.x, at = blockIdx.x * n + t;
    unsigned other = p.mode == 2 || p.mode == 3 ? (t & ~31u) | ((t + 1) & 31) : (t + 1) % n;
    if (p.mode == 5 && t < n / 2)
        return;
    if (p.mode == 8 || p.mode == 9) {
        if (t == 0)
            s.v[0] = 0;
        __syncthreads();
        atomicAdd(&s.v[0], 1u);
        if (p.mode == 8)
            __syncthreads();
        out[at] = s.v[0];
        return;
    }
    if (p.mode != 4 || t < 5)
        s.v[t] = at;
    if (p.mode == 0 || p.mode == 4 || p.mode == 5 || p.mode == 7)
        __syncthreads();
    if (p.mode == 6) {
        if (t & 1)
            __syncthreads();
        else
            __syncthreads();
    }
    if (p.mode == 2)
        __syncwarp();
    unsigned value = s.v[p.mode == 7 && t == 3 ? 128 : other];
    out[at] = value;
}

/* One element past a buffer of global memory. mode 0: writes it; 1: reads it. */
SMP_KERNEL(past_the_end_f32_f32, simt_case, io, p)
{
    unsigned *out = static_cast<unsigned *>(io.out.data), n = (unsigned)io.out.width;
    if (threadIdx.x == 0)
        out[0] = 1;
    if (p.mode == 0 && threadIdx.x == 1)
        out[n] = 1;
    if (p.mode == 1 && threadIdx.x == 1)
        out[1] = out[n];
}

/* Shuffles and votes of one warp; 12 results a lane. */
SMP_KERNEL(exchange_f32_f32, simt_case, io, p)
{
    unsigned *out = static_cast<unsigned *>(io.out.data) + threadIdx.x * 12;
    unsigned lane = threadIdx.x % 32, value = 100 + threadIdx.x, all = 0xffffffffu;
    out[0] = __shfl_sync(all, value, 5);
    out[1] = __shfl_sync(all, value, 2, 8);
    out[2] = __shfl_up_sync(all, value, 3);
    out[3] = __shfl_down_sync(all, value, 3);
    out[4] = __shfl_down_sync(all, value, 3, 8);
    out[5] = __shfl_xor_sync(all, value, 16);
    out[6] = __ballot_sync(all, lane % 3 == 0);
    out[7] = (unsigned)__any_sync(all, lane == 31);
    out[8] = (unsigned)__all_sync(all, lane < 31);
    double wide = __shfl_xor_sync(all, (double)value * 0.5, 1);
    out[9] = (unsigned)(wide * 2);
    out[10] = 0;
    if (lane < 16) /* half a warp by itself */
        out[10] = __shfl_down_sync(0x0000ffffu, value, 1, 16);
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(all, value, (unsigned)offset);
    out[11] = __shfl_sync(all, value, 0);
}

/* Counts into shared and then global memory, over several blocks. */
struct count_memory {
    unsigned bins[32];
    float sum;
};
SMP_KERNEL(count_f32_f32, simt_case, io, p)
{
    SMP_SHARED(count_memory, s);
    unsigned long long *out = static_cast<unsigned long long *>(io.result);
    unsigned t = threadIdx.x;
    if (t < 32)
        s.bins[t] = 0;
    if (t == 0)
        s.sum = 0;
    __syncthreads();
    unsigned value = (blockIdx.x * blockDim.x + t) * 2654435761u >> 27;
    atomicAdd(&s.bins[value], 1u);
    atomicAdd(&s.sum, 1.f);
    __syncthreads();
    if (t < 32)
        atomicAdd(&out[t], (unsigned long long)s.bins[t]);
    if (t == 0) {
        atomicMax(&out[32], (unsigned long long)blockIdx.x);
        atomicMin(&out[33], (unsigned long long)blockIdx.x);
        atomicAdd(&out[34], (unsigned long long)s.sum);
    }
}

/* Asynchronous copies into dynamic shared memory, 16 bytes a thread, the last thread's zeros. mode 1: without waiting.
 */
SMP_KERNEL(async_f32_f32, simt_case, io, p)
{
    SMP_SMEM_DYNAMIC(float4, tile);
    const float4 *in = static_cast<const float4 *>(io.in.data);
    float4 *out = static_cast<float4 *>(io.out.data);
    unsigned t = threadIdx.x, n = blockDim.x;
    smp_copy_async<16>(&tile[t], &in[t], t + 1 < n);
    smp_copy_commit();
    if (p.mode == 0)
        smp_copy_wait<0>();
    __syncthreads();
    float4 value = tile[n - 1 - t];
    out[t] = value;
}

/* Writes first and last float of the dynamic shared memory that the launch has (in p.width bytes). */
SMP_KERNEL(dynamic_f32_f32, simt_case, io, p)
{
    SMP_SMEM_DYNAMIC(float, tile);
    float *out = static_cast<float *>(io.out.data);
    int last = p.width / 4 - 1;
    if (threadIdx.x == 0) {
        tile[0] = 1;
        tile[last] = 2;
    }
    __syncthreads();
    out[threadIdx.x] = tile[0] + tile[last];
}

/* Bits and bytes. */
SMP_KERNEL(bits_f32_f32, simt_case, io, p)
{
    unsigned *out = static_cast<unsigned *>(io.out.data);
    if (threadIdx.x)
        return;
    out[0] = __byte_perm(0x33221100u, 0x77665544u, 0x7520u);
    out[1] = __byte_perm(0x33229900u, 0x77665544u, 0x0091u);
    out[2] = (unsigned)__popc(0xf0f0u);
    out[3] = (unsigned)__clz(1);
    out[4] = (unsigned)__ffs(8);
    out[5] = __brev(1u);
    out[6] = __funnelshift_l(0x80000000u, 1u, 1);
    out[7] = __float_as_uint(1.f);
    out[8] = __umulhi(0x80000000u, 6u);
    out[9] = (unsigned)min(3, -2) + (unsigned)max(7u, 2u);
    out[10] = __dp4a(0x01020304u, 0x01010101u, 5u);
    out[11] = __float_as_uint(fmaf(1.00000095367431640625f, 1.00000095367431640625f, -1.f));
}
