// A 16 x 64 tile of halves for tensor cores: ldmatrix takes a row of 16 bytes from each lane.

template <int PITCH>
__device__ void load(unsigned *out, const uint4 *in, unsigned short (*tile)[PITCH])
{
    int t = threadIdx.x;
    for (int i = t; i < 128; i += 32) // 16 rows of eight uint4
        *(uint4 *)&tile[i / 8][i % 8 * 8] = in[i];
    __syncwarp();
    for (int k = 0; k < 64; k += 16) {
        unsigned at = __cvta_generic_to_shared(&tile[t % 16][k + t / 16 * 8]), a, b, c, d;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(at));
        out[k * 2 + t] = a ^ b ^ c ^ d;
    }
}

__global__ void plain(unsigned *out, const uint4 *in)
{
    __shared__ __align__(16) unsigned short tile[16][64];
    load<64>(out, in, tile);
}

__global__ void padded(unsigned *out, const uint4 *in)
{
    __shared__ __align__(16) unsigned short tile[16][64 + 8];
    load<72>(out, in, tile);
}
