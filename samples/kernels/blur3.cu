// A weighted mean of 3 x 3 pixels, written twice: a thread a pixel from global memory, and through a tile in shared
// memory. blur3.pipe runs it as a stage of a pipeline; blur3.ptx is what nvcc makes of it, for machines without nvcc:
//   nvcc -ptx -lineinfo -arch=compute_75 --fmad=false -o samples/kernels/blur3.ptx samples/kernels/blur3.cu
// The sums have one order, so that both give the same bytes.

constexpr int ACROSS = 32, DOWN = 8;

__device__ int inside(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

__global__ void blur3(const unsigned char *in, unsigned char *out, int width, int height, int channels, float centre)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    for (int c = 0; c < channels; c++) {
        float sum = 0;
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++)
                sum +=
                    in[(inside(y + j, height) * width + inside(x + i, width)) * channels + c] * (i || j ? 1 : centre);
        out[(y * width + x) * channels + c] = (unsigned char)(sum / (8 + centre) + 0.5f);
    }
}

__global__ void blur3_tiled(const unsigned char *in, unsigned char *out, int width, int height, int channels,
                            float centre)
{
    __shared__ float tile[DOWN + 2][ACROSS + 2];
    const int left = blockIdx.x * ACROSS - 1, top = blockIdx.y * DOWN - 1;
    const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    for (int c = 0; c < channels; c++) {
        for (int at = threadIdx.y * ACROSS + threadIdx.x; at < (DOWN + 2) * (ACROSS + 2); at += ACROSS * DOWN) {
            const int i = at % (ACROSS + 2), j = at / (ACROSS + 2);
            tile[j][i] = in[(inside(top + j, height) * width + inside(left + i, width)) * channels + c];
        }
        __syncthreads();
        float sum = 0;
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++)
                sum += tile[threadIdx.y + 1 + j][threadIdx.x + 1 + i] * (i || j ? 1 : centre);
        if (x < width && y < height)
            out[(y * width + x) * channels + c] = (unsigned char)(sum / (8 + centre) + 0.5f);
        __syncthreads();
    }
}
