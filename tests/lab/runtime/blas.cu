// Calls of cuBLAS and cuRAND, for which the lab has stand-ins: "blas.cu: right" if each leaves what it shall.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <curand.h>

__global__ void times_two(float *x) { x[threadIdx.x] *= 2; }

static int wrong;
static void check(bool good, const char *what)
{
    if (!good)
        printf("%s: wrong\n", what), wrong++;
}

template <class T> static T *on_device(const std::vector<T> &from)
{
    T *p;
    cudaMalloc(&p, from.size() * sizeof(T));
    cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <class T> static std::vector<T> to_host(const T *p, size_t n)
{
    std::vector<T> out(n);
    cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
}

enum { M = 5, N = 7, K = 3, LA = 9, LB = 8, LC = 6, BATCH = 2 };

static double sum(const std::vector<float> &a, const std::vector<float> &b, bool ta, bool tb, int i, int j, int base)
{
    double s = 0;
    for (int p = 0; p < K; p++)
        s += (double)a[base + (ta ? i * LA + p : p * LA + i)] * b[base + (tb ? p * LB + j : j * LB + p)];
    return s;
}

static void products(cublasHandle_t h)
{
    std::vector<float> a(200), b(200), c(200);
    for (int i = 0; i < 200; i++)
        a[i] = i % 13 - 6, b[i] = i % 7 * 0.5f, c[i] = i % 5;
    float *da = on_device(a), *db = on_device(b), alpha = 2, beta = 0.5f, zero = 0, one = 1;
    for (int t = 0; t < 4; t++) {
        float *dc = on_device(c);
        const cublasOperation_t ta = t & 1 ? CUBLAS_OP_T : CUBLAS_OP_N, tb = t & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        cublasSgemmStridedBatched(h, ta, tb, M, N, K, &alpha, da, LA, 100, db, LB, 100, &beta, dc, LC, 100, BATCH);
        std::vector<float> got = to_host(dc, 200);
        bool good = got[M] == c[M]; // between columns nothing is written
        for (int q = 0; q < BATCH; q++)
            for (int j = 0; j < N; j++)
                for (int i = 0; i < M; i++)
                    good = good && got[q * 100 + j * LC + i] ==
                                       (float)(2 * sum(a, b, t & 1, t & 2, i, j, q * 100) +
                                               0.5 * c[q * 100 + j * LC + i]);
        check(good, "cublasSgemmStridedBatched");
        cudaFree(dc);
    }
    std::vector<__half> ha, hb;
    for (int i = 0; i < 200; i++)
        ha.push_back(__float2half(a[i])), hb.push_back(__float2half(b[i]));
    __half *dha = on_device(ha), *dhb = on_device(hb);
    float *dc;
    cudaMalloc(&dc, 4 * LC * N); // with beta 0 it may be anything
    cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, dha, CUDA_R_16F, LA, dhb, CUDA_R_16F, LB, &zero, dc,
                 CUDA_R_32F, LC, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    check(to_host(dc, 2 * LC)[LC + 2] == (float)sum(a, b, false, false, 2, 1, 0), "cublasGemmEx");
    times_two<<<1, M>>>(dc); // reads what the call left
    check(to_host(dc, 1)[0] == (float)(2 * sum(a, b, false, false, 0, 0, 0)), "a kernel behind it");
    check(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, da, 2, db, LB, &zero, dc, LC) ==
              CUBLAS_STATUS_INVALID_VALUE, "rows shorter than the matrix");
    cudaFree(da), cudaFree(db), cudaFree(dha), cudaFree(dhb), cudaFree(dc);
}

static void vectors(cublasHandle_t h)
{
    float *x = on_device(std::vector<float>{3, 9, 4, 9, 12, 9}), *y = on_device(std::vector<float>{1, 2, 3});
    float got, two = 2;
    double *d = on_device(std::vector<double>(3)), twice = 2;
    check(!cublasSdot(h, 3, x, 2, y, 1, &got) && got == 3 + 8 + 36, "cublasSdot");
    check(!cublasSnrm2(h, 3, x, 2, &got) && got == 13, "cublasSnrm2");
    cublasSaxpy(h, 3, &two, x, 2, y, 1);
    check(to_host(y, 3) == std::vector<float>{7, 10, 27}, "cublasSaxpy");
    cublasSscal(h, 3, &two, x, 2);
    check(to_host(x, 6) == std::vector<float>{6, 9, 8, 9, 24, 9}, "cublasSscal");
    check(!cublasDscal(h, 3, &twice, d, 1) && to_host(d, 1)[0] == 0, "cublasDscal");
    check(!cublasSdot(h, 3, x, -2, y, 1, &got) && got == 24 * 7 + 8 * 10 + 6 * 27, "cublasSdot backwards");
    check(!cublasSdot(h, 3, x, 0, y, -1, &got) && got == 6 * 44, "cublasSdot of one element");
    check(!cublasSdot(h, -1, x, 1, y, 1, &got) && got == 0, "cublasSdot of nothing");
    check(!cublasSnrm2(h, 3, x, -2, &got) && got == 0, "cublasSnrm2 backwards");
    check(!cublasSscal(h, 3, &two, x, -2) && !cublasSaxpy(h, -1, &two, x, 1, y, 1), "nothing to do");
    float *z = on_device(std::vector<float>{1, 2, 3, 4, 5, 6});
    check(!cublasSaxpy(h, 3, &two, y, 1, z, -2) && to_host(z, 6) == std::vector<float>{55, 2, 23, 4, 19, 6},
          "cublasSaxpy backwards");
    check(to_host(x, 6) == std::vector<float>{6, 9, 8, 9, 24, 9}, "what was not to be scaled");
    cudaFree(z);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    cublasDotEx(h, 3, x, CUDA_R_32F, 2, y, CUDA_R_32F, 1, d, CUDA_R_64F, CUDA_R_64F);
    check(to_host(d, 1)[0] == 6 * 7 + 8 * 10 + 24 * 27, "cublasDotEx");
    check(cublasSdot(h, 3, x, 2, y, 1, &got) == CUBLAS_STATUS_EXECUTION_FAILED, "a result on the host");
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
    check(cublasSdot(h, 4, x, 2, y, 1, &got) == CUBLAS_STATUS_EXECUTION_FAILED, "a vector beyond its buffer");
    check(!strcmp(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE"), "a name");
    cudaFree(x), cudaFree(y), cudaFree(d);
}

static void captured(cublasHandle_t h)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float one = 1, *x = on_device(std::vector<float>{1, 2, 3, 4}), *y = on_device(std::vector<float>(4));
    cudaStreamCreate(&stream);
    cublasSetStream(h, stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, x, 2, x, 2, &one, y, 2);
    cudaStreamEndCapture(stream, &graph);
    check(to_host(y, 1)[0] == 0, "while it is captured");
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
    check(to_host(y, 1)[0] == 14, "a graph that is launched twice");
    cublasSetStream(h, 0);
    cudaFree(x), cudaFree(y);
}

static void numbers()
{
    enum { COUNT = 20000 };
    curandGenerator_t g;
    float *x;
    cudaMalloc(&x, COUNT * 4);
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
    curandSetPseudoRandomGeneratorSeed(g, 42);
    curandGenerateUniform(g, x, COUNT);
    double mean = 0, deviation = 0;
    std::vector<float> u = to_host(x, COUNT);
    bool within = true;
    for (float v : u)
        mean += v / COUNT, within = within && v > 0 && v <= 1;
    check(within && fabs(mean - 0.5) < 0.01, "curandGenerateUniform");
    curandGenerateNormal(g, x, COUNT, 3, 2);
    mean = 0;
    for (float v : to_host(x, COUNT))
        mean += v / COUNT, deviation += (v - 3) * (v - 3) / COUNT;
    check(fabs(mean - 3) < 0.06 && fabs(sqrt(deviation) - 2) < 0.05, "curandGenerateNormal");
    check(curandGenerateNormal(g, x, COUNT - 1, 3, 2) == CURAND_STATUS_LENGTH_NOT_MULTIPLE, "an odd count");
    curandSetPseudoRandomGeneratorSeed(g, 42);
    curandGenerateUniform(g, x, COUNT);
    check(u == to_host(x, COUNT), "the same seed");
    curandDestroyGenerator(g);
    cudaFree(x);
    curandDirectionVectors32_t *directions;
    check(!curandGetDirectionVectors32(&directions, CURAND_DIRECTION_VECTORS_32_JOEKUO6) &&
              directions[0][1] == 1u << 30, "curandGetDirectionVectors32");
}

int main(int count, char **words)
{
    cublasHandle_t h;
    check(cublasCreate(&h) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH);
    if (count > 1 && !strcmp(words[1], "beyond")) {
        float one = 1, *x;
        cudaMalloc(&x, 64 * 4);
        cudaMemset(x, 0, 64 * 4);
        check(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 9, 8, &one, x, 8, x, 8, &one, x, 8) ==
                  CUBLAS_STATUS_EXECUTION_FAILED, "a matrix beyond its buffer");
    } else {
        products(h);
        vectors(h);
        captured(h);
        numbers();
    }
    cublasLtHandle_t light;
    cublasLtMatmulDesc_t what;
    check(cublasLtCreate(&light) == CUBLAS_STATUS_SUCCESS, "cublasLtCreate");
    check(cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F, CUDA_R_32F) != CUBLAS_STATUS_SUCCESS, "what is missing");
    cublasLtDestroy(light);
    cublasDestroy(h);
    if (!wrong)
        puts("blas.cu: right");
    return wrong;
}
