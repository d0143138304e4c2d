// The kernels of docs/course and of samples/kernels/blur3.cu in one program, each launched as its lesson launches it,
// for `smempipe kernel --device cuda`. Left out is lesson 11's barrier in a branch, at which a GPU may hang.
#include <cstdio>

namespace stride
{
#include "../../../docs/course/01-stride.cu"
}
namespace tile
{
#include "../../../docs/course/02-tile.cu"
}
namespace pad
{
#include "../../../docs/course/03-pad.cu"
}
namespace swizzle
{
#include "../../../docs/course/04-swizzle.cu"
}
namespace vectors
{
#include "../../../docs/course/05-vectors.cu"
}
namespace members
{
#include "../../../docs/course/06-members.cu"
}
namespace reduction
{
#include "../../../docs/course/07-reduction.cu"
}
namespace scan
{
#include "../../../docs/course/08-scan.cu"
}
namespace atomics
{
#include "../../../docs/course/09-atomics.cu"
}
namespace coalescing
{
#include "../../../docs/course/10-coalescing.cu"
}
namespace races
{
#include "../../../docs/course/11-races.cu"
}
namespace tensor_tiles
{
#include "../../../docs/course/12-tensor-tiles.cu"
}
namespace blur
{
#include "../../../samples/kernels/blur3.cu"
}

int main()
{
    enum { BYTES = 1 << 20 };
    float *out, *in;
    cudaMalloc(&out, BYTES);
    cudaMalloc(&in, BYTES);
    cudaMemset(in, 0, BYTES);
    const dim3 flat(32, 8);
    float4 *out4 = (float4 *)out, *in4 = (float4 *)in;
    stride::halve<<<1, 256>>>(out, in);
    stride::halve_padded<<<1, 256>>>(out, in);
    tile::direct<<<dim3(2, 8), flat>>>(out, in, 64);
    tile::tiled<<<dim3(2, 2), flat>>>(out, in, 64);
    pad::plain<<<dim3(2, 2), flat>>>(out, in, 64);
    pad::padded<<<dim3(2, 2), flat>>>(out, in, 64);
    swizzle::plain<<<dim3(2, 2), flat>>>(out, in, 64);
    swizzle::xored<<<dim3(2, 2), flat>>>(out, in, 64);
    vectors::scalars<<<1, 256>>>(out, in);
    vectors::vectors<<<1, 256>>>(out4, in4);
    vectors::columns<<<1, 256>>>(out4, in4);
    vectors::swizzled<<<1, 256>>>(out4, in4);
    members::structs<<<1, 256>>>(out, (const members::particle *)in);
    members::arrays<<<1, 256>>>(out, in);
    reduction::neighbours<<<1, 256>>>(out, in);
    reduction::halves<<<1, 256>>>(out, in);
    scan::plain<<<1, 256>>>(out, in);
    scan::padded<<<1, 256>>>(out, in);
    atomics::shared_sums<<<1, 256>>>((int *)out, (const int *)in);
    atomics::copies<<<1, 256>>>((int *)out, (const int *)in);
    coalescing::by_thread<<<1, 256>>>(out, in);
    coalescing::by_warp<<<32, 256>>>(out, in);
    races::early<<<1, 128>>>(out, in);
    races::right<<<1, 128>>>(out, in);
    tensor_tiles::plain<<<1, 32>>>((unsigned *)out, (const uint4 *)in);
    tensor_tiles::padded<<<1, 32>>>((unsigned *)out, (const uint4 *)in);
    blur::blur3<<<dim3(5, 13), flat>>>((const unsigned char *)in, (unsigned char *)out, 150, 100, 3, 3.5f);
    blur::blur3_tiled<<<dim3(5, 13), flat>>>((const unsigned char *)in, (unsigned char *)out, 150, 100, 3, 3.5f);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("course: %s\n", error ? cudaGetErrorString(error) : "PASS");
    return error != cudaSuccess;
}
