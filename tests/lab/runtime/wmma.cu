// Products of wmma in every type and layout, against sums of the host.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>
using namespace nvcuda;

enum { PITCH = 24 };

template <class A, class S, class T, int M, int N, int K, class ALayout, class BLayout, class D>
__global__ void product(const T *a, const T *b, const S *c, D *d, wmma::layout_t layout)
{
    wmma::fragment<wmma::matrix_a, M, N, K, A, ALayout> of_a;
    wmma::fragment<wmma::matrix_b, M, N, K, A, BLayout> of_b;
    wmma::fragment<wmma::accumulator, M, N, K, S> sums;
    wmma::fragment<wmma::accumulator, M, N, K, D> result;
    wmma::load_matrix_sync(of_a, a, PITCH);
    wmma::load_matrix_sync(of_b, b, PITCH);
    wmma::load_matrix_sync(sums, c, PITCH, layout);
    wmma::mma_sync(result, of_a, of_b, sums);
    wmma::store_matrix_sync(d, result, PITCH, layout);
}

static int wrong;

template <class A, class S, class T, int M, int N, int K, class ALayout, class BLayout, class D = S>
static void check(const char *name)
{
    const bool a_rows = std::is_same<ALayout, wmma::row_major>(), b_rows = std::is_same<BLayout, wmma::row_major>();
    const bool d_rows = a_rows != b_rows;
    const float least = std::is_same<T, unsigned char>() ? 0 : -3;
    T *a, *b;
    S *c;
    D *d;
    cudaMallocManaged(&a, PITCH * PITCH * sizeof(T));
    cudaMallocManaged(&b, PITCH * PITCH * sizeof(T));
    cudaMallocManaged(&c, PITCH * PITCH * sizeof(S));
    cudaMallocManaged(&d, PITCH * PITCH * sizeof(D));
    for (int i = 0; i < PITCH * PITCH; i++) {
        a[i] = (T)(i * 5 % 7 + least);
        b[i] = (T)(i * 3 % 5 + least);
        c[i] = (S)(float)(i % 11);
    }
    product<A, S, T, M, N, K, ALayout, BLayout>
        <<<1, 32>>>(a, b, c, d, d_rows ? wmma::mem_row_major : wmma::mem_col_major);
    cudaDeviceSynchronize();
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++) {
            const int at = d_rows ? row * PITCH + column : column * PITCH + row;
            float sum = (float)c[at];
            for (int k = 0; k < K; k++)
                sum += (float)a[a_rows ? row * PITCH + k : k * PITCH + row] *
                       (float)b[b_rows ? k * PITCH + column : column * PITCH + k];
            if ((float)d[at] != sum && !wrong++)
                printf("%s: row %d, column %d: %g, not %g\n", name, row, column, (float)d[at], sum);
        }
}

template <class A, class S, class T, int M, int N, int K> static void check_layouts(const char *name)
{
    check<A, S, T, M, N, K, wmma::row_major, wmma::row_major>(name);
    check<A, S, T, M, N, K, wmma::row_major, wmma::col_major>(name);
    check<A, S, T, M, N, K, wmma::col_major, wmma::row_major>(name);
    check<A, S, T, M, N, K, wmma::col_major, wmma::col_major>(name);
}

int main()
{
    check_layouts<half, float, half, 16, 16, 16>("halves");
    check_layouts<half, half, half, 16, 16, 16>("halves, sums too");
    check<half, float, half, 16, 16, 16, wmma::row_major, wmma::col_major, half>("sums that become halves");
    check_layouts<__nv_bfloat16, float, __nv_bfloat16, 16, 16, 16>("bfloat16");
    check_layouts<signed char, int, signed char, 16, 16, 16>("signed bytes");
    check_layouts<unsigned char, int, unsigned char, 16, 16, 16>("bytes");
    check_layouts<wmma::precision::tf32, float, float, 16, 16, 8>("tf32");
    check_layouts<double, double, double, 8, 8, 4>("doubles");
    printf("%s\n", wrong ? "wrong" : "all right");
    return wrong != 0;
}
