// A product of matrices as Hopper's tensor cores take it: one warp copies tiles by tensor maps into two stages of
// shared memory, four warps multiply them (wgmma), and mbarriers hand the stages over. b lies row by row (turned) or
// column by column. For --arch sm_90a.
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_fp16.h>

enum { M = 128, N = 128, K = 192, TILE_M = 64, TILE_N = 64, TILE_K = 64, STAGES = 2, CONSUMERS = 128 };
enum { TILE_BYTES = (TILE_M + TILE_N) * TILE_K * 2 };

__device__ uint32_t at(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}
__device__ void init(uint64_t *b, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory");
}
__device__ void wait(uint64_t *b, int parity)
{
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra over;\n"
                 "bra again;\nover:\n}" ::"r"(at(b)),
                 "r"(parity)
                 : "memory");
}
__device__ void arrive(uint64_t *b)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
__device__ void expect(uint64_t *b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
__device__ void load(void *to, const CUtensorMap *map, int x, int y, uint64_t *b)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(at(to)),
        "l"(map), "r"(x), "r"(y), "r"(at(b))
        : "memory");
}

// 128-byte swizzle, eight rows of 128 bytes together
__device__ uint64_t descriptor(const void *shared)
{
    return (at(shared) & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

template <int TURNED> __device__ void multiply(float (&d)[32], uint64_t a, uint64_t b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
        "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, 1, 1, 1, 0, %34;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b), "n"(TURNED));
}

template <int TURNED>
__global__ void __launch_bounds__(CONSUMERS + 32)
    gemm(float *c, const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b)
{
    __shared__ alignas(1024) half a[STAGES][TILE_M * TILE_K];
    __shared__ alignas(1024) half b[STAGES][TILE_N * TILE_K];
    __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
    const int t = threadIdx.x, row = blockIdx.y * TILE_M, column = blockIdx.x * TILE_N;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t >= CONSUMERS) {
        for (int k = 0; k < K / TILE_K && t == CONSUMERS; k++) {
            const int s = k % STAGES;
            if (k >= STAGES)
                wait(&empty[s], (k / STAGES - 1) % 2);
            expect(&full[s], TILE_BYTES);
            load(a[s], &map_a, k * TILE_K, row, &full[s]);
            if (TURNED)
                load(b[s], &map_b, column, k * TILE_K, &full[s]);
            else
                load(b[s], &map_b, k * TILE_K, column, &full[s]);
        }
        return;
    }
    float d[32] = {};
    for (int k = 0; k < K / TILE_K; k++) {
        const int s = k % STAGES;
        wait(&full[s], k / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < TILE_K / 16; i++)
            multiply<TURNED>(d, descriptor(&a[s][i * 16]), descriptor(&b[s][i * 16 * (TURNED ? TILE_N : 1)]));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        arrive(&empty[s]);
    }
    for (int i = 0; i < 32; i++) {
        const int y = row + t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, x = column + i / 4 * 8 + t % 4 * 2 + i % 2;
        c[y * N + x] = d[i];
    }
}

// Boxes of 16 x 4 x 2 halves, that begin outside of the tensor, through shared memory and into another, `moved` further
// on: hardware writes to no negative coordinate. It takes boxes from a multiple of 16 bytes alone, which those that
// read or write `off` elements further are not.
enum { MOVED_X = 8, MOVED_Y = 1 };
__global__ void boxes(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int moved,
                      int read_off = 0, int write_off = 0)
{
    __shared__ alignas(1024) half box[2 * 4 * 16];
    __shared__ alignas(8) uint64_t full;
    const int t = threadIdx.x, x = blockIdx.x * 16 - MOVED_X, y = blockIdx.y * 4 - MOVED_Y, z = blockIdx.z * 2;
    if (t == 0) {
        init(&full, 1);
        asm volatile("fence.proxy.async;" ::: "memory");
        expect(&full, sizeof box);
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
                     "{%2, %3, %4}], [%5];" ::"r"(at(box)),
                     "l"(&from), "r"(x + read_off), "r"(y), "r"(z), "r"(at(&full))
                     : "memory");
    }
    __syncthreads();
    wait(&full, 0);
    for (int i = t; i < 2 * 4 * 16; i += blockDim.x) {
        const int row = i / 16, place = row * 16 + (i % 16 / 8 ^ row / 4 % 2) * 8 + i % 8; // a swizzle of 32 bytes
        const bool inside = x + i % 16 >= 0 && y + row % 4 >= 0;
        box[place] = __hadd(box[place], __float2half(inside ? 1 : 2));
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&to),
                     "r"(x + moved * MOVED_X + write_off), "r"(y + moved * MOVED_Y), "r"(z), "r"(at(box))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

typedef CUresult encoder(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                         const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                         CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encoder *find_encoder()
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    return (encoder *)found;
}

static CUtensorMap map_of(half *matrix, int width, int height, int across = 64)
{
    const cuuint64_t dims[] = {(cuuint64_t)width, (cuuint64_t)height}, pitch[] = {(cuuint64_t)width * 2};
    const cuuint32_t box[] = {(cuuint32_t)across, 64}, steps[] = {1, 1};
    CUtensorMap map = {};
    const CUresult error = find_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, dims, pitch, box, steps,
                                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error)
        printf("cuTensorMapEncodeTiled: %d\n", (int)error);
    return map;
}

static CUtensorMap map_of_three(half *tensor, int x, int y, int z)
{
    const cuuint64_t dims[] = {(cuuint64_t)x, (cuuint64_t)y, (cuuint64_t)z};
    const cuuint64_t pitch[] = {(cuuint64_t)x * 2, (cuuint64_t)x * y * 2};
    const cuuint32_t box[] = {16, 4, 2}, steps[] = {1, 1, 1};
    CUtensorMap map = {};
    const CUresult error = find_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, tensor, dims, pitch, box, steps,
                                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error)
        printf("cuTensorMapEncodeTiled: %d\n", (int)error);
    return map;
}

// What the driver says of maps, one by one.
static void encode_each(void *at)
{
    typedef struct {
        cuuint64_t deep, pitches[2];
        cuuint32_t box[3], step;
        int offset, type, swizzle;
    } asked;
    static const asked right = {4, {80, 720}, {16, 4, 2}, 1, 0, 6, 1};
    asked each[21];
    for (asked &one : each)
        one = right;
    each[1].pitches[0] = 64; // below a row
    each[2].pitches[0] = 0;
    each[3].pitches[1] = 16; // below the first
    each[4].pitches[1] = 880, each[4].pitches[0] = 96;
    each[5].box[1] = 16; // higher than the tensor
    each[6].deep = 1ull << 32;
    each[7].deep = (1ull << 32) + 1;
    each[8].deep = 0;
    each[9].pitches[1] = 1ull << 40;
    each[10].pitches[0] = 88;
    each[11].box[0] = each[11].box[1] = 256, each[11].box[2] = 8, each[11].swizzle = 0;
    each[12].box[0] = 12, each[12].swizzle = 0;
    each[13].box[1] = 257;
    each[14].box[1] = 0;
    each[15].box[0] = 32; // wider than its swizzle
    each[16].step = 0;
    each[17].step = 9;
    each[18].offset = 8;
    each[19].type = 99;
    each[20].swizzle = 9;
    printf("encodings:");
    for (const asked &one : each) {
        const cuuint64_t dims[] = {40, 9, one.deep};
        const cuuint32_t steps[] = {1, one.step, 1};
        CUtensorMap map;
        printf(" %d",
               (int)find_encoder()(&map, (CUtensorMapDataType)one.type, 3, (char *)at + one.offset, dims, one.pitches,
                                   one.box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)one.swizzle,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    }
    printf("\n");
}

enum { X = 40, Y = 9, Z = 4, WIDE = X + MOVED_X, HIGH = Y + MOVED_Y };

int main(int count, char **arguments)
{
    static half a[M * K], b[N * K], turned[K * N];
    static float back[M * N];
    half *in_a, *in_b;
    float *out;
    int wrong = 0;
    cudaMalloc(&in_a, sizeof a);
    cudaMalloc(&in_b, sizeof b);
    cudaMalloc(&out, sizeof back);
    if (count > 1 && arguments[1][0] == 'n') { // a box of 32 bytes, whose swizzle is of 128
        map_of(in_a, K, M, 16);
        return 0;
    }
    if (count > 1 && arguments[1][0] == 'e') {
        encode_each(in_a);
        return 0;
    }
    if (count > 1 && (arguments[1][0] == 'r' || arguments[1][0] == 'w')) { // an element, or four, off
        const bool reads = arguments[1][0] == 'r';
        const CUtensorMap from = map_of_three(in_a, X, Y, Z), to = map_of_three((half *)out, WIDE, HIGH, Z);
        boxes<<<dim3(3, 3, 2), 64>>>(from, to, 1, reads ? 1 : 0, reads ? 0 : 4);
        printf("boxes off: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    if (count > 1 && arguments[1][0] == '3') { // dimensions, and a copy of two
        gemm<0><<<1, CONSUMERS + 32>>>(out, map_of_three(in_a, X, Y, Z), map_of(in_b, K, N));
        printf("another rank: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    if (count > 1 && arguments[1][0] == 'o') {
        boxes<<<dim3(3, 3, 2), 64>>>(map_of_three(in_a, X, Y, Z), map_of_three((half *)out, X, Y, Z), 0);
        printf("boxes outside: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    if (count > 1) {
        printf("the map is asked for twice its rows\n");
        gemm<0><<<dim3(N / TILE_N, 2 * M / TILE_M), CONSUMERS + 32>>>(out, map_of(in_a, K, 2 * M), map_of(in_b, K, N));
        cudaDeviceSynchronize();
        return 0;
    }
    for (int i = 0; i < M * K; i++)
        a[i] = __float2half(i * 7 % 11 - 5);
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++)
            turned[k * N + n] = b[n * K + k] = __float2half((n * 5 + k * 3) % 7 - 3);
    cudaMemcpy(in_a, a, sizeof a, cudaMemcpyHostToDevice);
    for (int which = 0; which < 2; which++) {
        cudaMemcpy(in_b, which ? turned : b, sizeof b, cudaMemcpyHostToDevice);
        cudaMemset(out, 0, sizeof back);
        if (which)
            gemm<1><<<dim3(N / TILE_N, M / TILE_M), CONSUMERS + 32>>>(out, map_of(in_a, K, M), map_of(in_b, N, K));
        else
            gemm<0><<<dim3(N / TILE_N, M / TILE_M), CONSUMERS + 32>>>(out, map_of(in_a, K, M), map_of(in_b, K, N));
        cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) {
                float sum = 0;
                for (int k = 0; k < K; k++)
                    sum += __half2float(a[m * K + k]) * __half2float(b[n * K + k]);
                wrong += back[m * N + n] != sum;
            }
    }
    cudaMemset(out, 0, sizeof back);
    boxes<<<dim3(3, 3, 2), 64>>>(map_of_three(in_a, X, Y, Z), map_of_three((half *)out, WIDE, HIGH, Z), 1);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < WIDE * HIGH * Z; i++) {
        const int x = i % WIDE - MOVED_X, y = i / WIDE % HIGH - MOVED_Y, z = i / WIDE / HIGH;
        const bool inside = x >= 0 && y >= 0;
        wrong += __half2float(((half *)back)[i]) != (inside ? __half2float(a[(z * Y + y) * X + x]) + 1 : 2);
    }
    printf("hopper_gemm: %s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
