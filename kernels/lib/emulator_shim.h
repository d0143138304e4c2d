/* The host's replacement of CUDA's built-ins, so that kernels/ROOM/NAME.cu runs in the emulator. Threads of a block are
 * fibers; barriers, exchanges and memory that they share go through the functions of src/device/simt/ that are declared
 * here. The first half is C, for those files too; the second is the C++ that kernels see. Members are inlined into
 * traced kernels, so that these and plain ones share no code. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One kernel compiled by the host compiler; run(args) executes one thread: args[0] the smp_io, args[1] the parameters.
 */
typedef struct smp_simt_kernel {
    const char *name;
    void (*run)(void *const *args);
    size_t params_size;
    const struct smp_simt_kernel *next; /* of the same file */
} smp_simt_kernel;

typedef struct smp_simt_index {
    unsigned x, y, z;
} smp_simt_index;

/* The running thread's index; the emulator sets it when it switches fibers. */
typedef struct smp_simt_thread {
    smp_simt_index thread, block, block_dim, grid_dim;
} smp_simt_thread;
extern __thread smp_simt_thread smp_simt_self;

/* Shared memory of the running block: tag is unique to the declaration. */
void *smp_simt_shared(const void *tag, size_t size, size_t align);
void *smp_simt_shared_dynamic(void);

void smp_simt_block_barrier(void);

/* A collective of the lanes of `mask`: each gives a value, and all get their result when the last has come. */
typedef enum smp_simt_exchange_op {
    SMP_SIMT_SYNC,
    SMP_SIMT_SHUFFLE, /* argument: the lane to read from */
    SMP_SIMT_BALLOT,
    SMP_SIMT_ANY,
    SMP_SIMT_ALL,
    SMP_SIMT_ADD, /* reductions of 32 bits */
    SMP_SIMT_MIN,
    SMP_SIMT_MAX
} smp_simt_exchange_op;
uint64_t smp_simt_exchange(int op, uint32_t mask, uint64_t value, int argument);
unsigned smp_simt_lane(void);

typedef enum smp_simt_atomic_op {
    SMP_SIMT_ATOMIC_ADD,
    SMP_SIMT_ATOMIC_ADD_FLOAT,
    SMP_SIMT_ATOMIC_MIN,
    SMP_SIMT_ATOMIC_MAX,
    SMP_SIMT_ATOMIC_MIN_SIGNED,
    SMP_SIMT_ATOMIC_MAX_SIGNED,
    SMP_SIMT_ATOMIC_AND,
    SMP_SIMT_ATOMIC_OR,
    SMP_SIMT_ATOMIC_XOR,
    SMP_SIMT_ATOMIC_EXCHANGE,
    SMP_SIMT_ATOMIC_COMPARE /* stores value where memory holds expected */
} smp_simt_atomic_op;
uint32_t smp_simt_atomic32(int op, void *at, uint32_t value, uint32_t expected);
uint64_t smp_simt_atomic64(int op, void *at, uint64_t value, uint64_t expected);
/* Marks the old value of this thread's last atomic as used: the hardware can then not merge it. */
void smp_simt_atomic_read(void);

void smp_simt_together(void);
/* from: null stores zeros; fills: the instruction is one that can. */
void smp_simt_copy_async(void *to, const void *from, size_t size, int fills);
void smp_simt_copy_commit(void);
void smp_simt_copy_wait(int pending);

#ifdef __cplusplus
}

/* ------------------------------------------------------------------------------------------------ what kernels see */

/* Functions of this file are inlined where a traced kernel calls them, so that an access is at a line of the kernel,
 * not at one of these. Elsewhere that would only slow gcc down. */
#ifdef SMP_TRACED
#define SMP_SIMT_INLINE inline __attribute__((always_inline, unused))
#else
#define SMP_SIMT_INLINE inline __attribute__((unused))
#endif

#define SMP_DEVICE        static SMP_SIMT_INLINE /* of this file; kernels' own: below */
#define SMP_DEVICE_COLD   static __attribute__((noinline, unused))
#define SMP_DEVICE_MEMBER inline __attribute__((unused))
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline __attribute__((unused))
#define __launch_bounds__(...)

#define threadIdx (smp_simt_self.thread)
#define blockIdx  (smp_simt_self.block)
#define blockDim  (smp_simt_self.block_dim)
#define gridDim   (smp_simt_self.grid_dim)
enum { warpSize = 32 };

/* smp_simt_list is the list of the file that is being compiled; the wrapper that CMake writes defines it. */
#define SMP_KERNEL(name, type, io, p)                                                                                  \
    static void name(const smp_io &io, const type &p);                                                                 \
    static void name##_run(void *const *args)                                                                          \
    {                                                                                                                  \
        name(*static_cast<const smp_io *>(args[0]), *static_cast<const type *>(args[1]));                              \
    }                                                                                                                  \
    static smp_simt_kernel name##_entry = {#name, name##_run, sizeof(type), nullptr};                                  \
    static const bool name##_listed __attribute__((unused)) =                                                          \
        (name##_entry.next = smp_simt_list, smp_simt_list = &name##_entry, true);                                      \
    static void name(const smp_io &io __attribute__((unused)), const type &p __attribute__((unused)))
#define SMP_KERNEL_BOUNDS(threads, blocks, name, type, io, p) SMP_KERNEL(name, type, io, p)

#define SMP_SHARED(T, s)                                                                                               \
    static char s##_tag;                                                                                               \
    T &s = *static_cast<T *>(smp_simt_shared(&s##_tag, sizeof(T), alignof(T)))
#define SMP_SMEM_DYNAMIC(T, s) T *const s = static_cast<T *>(smp_simt_shared_dynamic())

#define __syncthreads() smp_simt_block_barrier()
SMP_DEVICE void __syncwarp(unsigned mask = 0xffffffffu)
{
    smp_simt_exchange(SMP_SIMT_SYNC, mask, 0, 0);
}

SMP_DEVICE void smp_converge()
{
    smp_simt_together();
}

/* A copy of a vector is one access of its size, as on the GPU, whatever the compiler makes of a struct. */
typedef uint16_t __attribute__((may_alias)) smp_simt_word2;
typedef uint32_t __attribute__((may_alias)) smp_simt_word4;
typedef uint64_t __attribute__((may_alias)) smp_simt_word8;
__extension__ typedef unsigned __int128 __attribute__((may_alias)) smp_simt_word16;
template <int SIZE> struct smp_simt_word;
template <> struct smp_simt_word<1> {
    typedef unsigned char type;
};
template <> struct smp_simt_word<2> {
    typedef smp_simt_word2 type;
};
template <> struct smp_simt_word<4> {
    typedef smp_simt_word4 type;
};
template <> struct smp_simt_word<8> {
    typedef smp_simt_word8 type;
};
template <> struct smp_simt_word<16> {
    typedef smp_simt_word16 type;
};
#define SMP_SIMT_WHOLE(NAME, SIZE)                                                                                     \
    typedef typename smp_simt_word<SIZE>::type smp_simt_whole;                                                         \
    SMP_SIMT_INLINE NAME() {}                                                                                          \
    SMP_SIMT_INLINE NAME(const NAME &from)                                                                             \
    {                                                                                                                  \
        *reinterpret_cast<smp_simt_whole *>(this) = *reinterpret_cast<const smp_simt_whole *>(&from);                  \
    }                                                                                                                  \
    SMP_SIMT_INLINE NAME &operator=(const NAME &from)                                                                  \
    {                                                                                                                  \
        *reinterpret_cast<smp_simt_whole *>(this) = *reinterpret_cast<const smp_simt_whole *>(&from);                  \
        return *this;                                                                                                  \
    }

template <typename T, int N> struct alignas(sizeof(T) * N) smp_pack {
    T v[N];
    SMP_SIMT_WHOLE(smp_pack, (int)sizeof(T) * N)
};

#define SMP_SIMT_VECTOR2(NAME, T)                                                                                      \
    struct alignas(2 * sizeof(T)) NAME {                                                                               \
        T x, y;                                                                                                        \
        SMP_SIMT_WHOLE(NAME, 2 * (int)sizeof(T))                                                                       \
    };                                                                                                                 \
    SMP_DEVICE NAME make_##NAME(T x, T y)                                                                              \
    {                                                                                                                  \
        NAME v;                                                                                                        \
        v.x = x, v.y = y;                                                                                              \
        return v;                                                                                                      \
    }
#define SMP_SIMT_VECTOR4(NAME, T)                                                                                      \
    struct alignas(4 * sizeof(T)) NAME {                                                                               \
        T x, y, z, w;                                                                                                  \
        SMP_SIMT_WHOLE(NAME, 4 * (int)sizeof(T))                                                                       \
    };                                                                                                                 \
    SMP_DEVICE NAME make_##NAME(T x, T y, T z, T w)                                                                    \
    {                                                                                                                  \
        NAME v;                                                                                                        \
        v.x = x, v.y = y, v.z = z, v.w = w;                                                                            \
        return v;                                                                                                      \
    }
SMP_SIMT_VECTOR2(uchar2, unsigned char)
SMP_SIMT_VECTOR4(uchar4, unsigned char)
SMP_SIMT_VECTOR2(ushort2, unsigned short)
SMP_SIMT_VECTOR4(ushort4, unsigned short)
SMP_SIMT_VECTOR2(int2, int)
SMP_SIMT_VECTOR4(int4, int)
SMP_SIMT_VECTOR2(uint2, unsigned)
SMP_SIMT_VECTOR4(uint4, unsigned)
SMP_SIMT_VECTOR2(float2, float)
SMP_SIMT_VECTOR4(float4, float)
SMP_SIMT_VECTOR2(double2, double)
SMP_SIMT_VECTOR2(ulonglong2, unsigned long long)

/* Shuffles and votes. */
template <typename T> SMP_DEVICE T smp_simt_shuffle(unsigned mask, T value, int lane)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    bits = smp_simt_exchange(SMP_SIMT_SHUFFLE, mask, bits, lane);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
template <typename T> SMP_DEVICE T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    int lane = (int)smp_simt_lane();
    return smp_simt_shuffle(mask, value, (lane & ~(width - 1)) | (from & (width - 1)));
}
template <typename T> SMP_DEVICE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int lane = (int)smp_simt_lane(), in = lane & (width - 1);
    return smp_simt_shuffle(mask, value, in >= (int)delta ? lane - (int)delta : lane);
}
template <typename T> SMP_DEVICE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int lane = (int)smp_simt_lane(), in = lane & (width - 1);
    return smp_simt_shuffle(mask, value, in + (int)delta < width ? lane + (int)delta : lane);
}
template <typename T> SMP_DEVICE T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    int lane = (int)smp_simt_lane(), from = lane ^ bits;
    return smp_simt_shuffle(mask, value, from < (lane & ~(width - 1)) + width ? from : lane);
}
SMP_DEVICE unsigned __ballot_sync(unsigned mask, int p)
{
    return (unsigned)smp_simt_exchange(SMP_SIMT_BALLOT, mask, p != 0, 0);
}
SMP_DEVICE int __any_sync(unsigned mask, int p)
{
    return (int)smp_simt_exchange(SMP_SIMT_ANY, mask, p != 0, 0);
}
SMP_DEVICE int __all_sync(unsigned mask, int p)
{
    return (int)smp_simt_exchange(SMP_SIMT_ALL, mask, p != 0, 0);
}

/* Atomics. The result records that it is read: an unused atomicAdd(p, 1) is another instruction on the GPU. */
template <typename T> struct smp_simt_old {
    T value;
    SMP_SIMT_INLINE operator T() const
    {
        smp_simt_atomic_read();
        return value;
    }
};
template <typename T> SMP_DEVICE smp_simt_old<T> smp_simt_atomic(int op, T *at, T value, T expected = T())
{
    smp_simt_old<T> old;
    if (sizeof(T) == 4) {
        uint32_t v, e, r;
        __builtin_memcpy(&v, &value, 4), __builtin_memcpy(&e, &expected, 4);
        r = smp_simt_atomic32(op, at, v, e);
        __builtin_memcpy(&old.value, &r, 4);
    } else {
        uint64_t v = 0, e = 0, r;
        __builtin_memcpy(&v, &value, sizeof(T)), __builtin_memcpy(&e, &expected, sizeof(T));
        r = smp_simt_atomic64(op, at, v, e);
        __builtin_memcpy(&old.value, &r, sizeof(T));
    }
    return old;
}
#define SMP_SIMT_ATOMIC(name, T, op)                                                                                   \
    SMP_DEVICE smp_simt_old<T> name(T *at, T value)                                                                    \
    {                                                                                                                  \
        return smp_simt_atomic<T>(op, at, value);                                                                      \
    }
#define SMP_SIMT_ATOMIC_INTEGERS(name, op, signed_op)                                                                  \
    SMP_SIMT_ATOMIC(name, int, signed_op)                                                                              \
    SMP_SIMT_ATOMIC(name, unsigned, op)                                                                                \
    SMP_SIMT_ATOMIC(name, unsigned long long, op)
SMP_SIMT_ATOMIC_INTEGERS(atomicAdd, SMP_SIMT_ATOMIC_ADD, SMP_SIMT_ATOMIC_ADD)
SMP_SIMT_ATOMIC(atomicAdd, float, SMP_SIMT_ATOMIC_ADD_FLOAT)
SMP_SIMT_ATOMIC_INTEGERS(atomicMin, SMP_SIMT_ATOMIC_MIN, SMP_SIMT_ATOMIC_MIN_SIGNED)
SMP_SIMT_ATOMIC_INTEGERS(atomicMax, SMP_SIMT_ATOMIC_MAX, SMP_SIMT_ATOMIC_MAX_SIGNED)
SMP_SIMT_ATOMIC_INTEGERS(atomicAnd, SMP_SIMT_ATOMIC_AND, SMP_SIMT_ATOMIC_AND)
SMP_SIMT_ATOMIC_INTEGERS(atomicOr, SMP_SIMT_ATOMIC_OR, SMP_SIMT_ATOMIC_OR)
SMP_SIMT_ATOMIC_INTEGERS(atomicXor, SMP_SIMT_ATOMIC_XOR, SMP_SIMT_ATOMIC_XOR)
SMP_SIMT_ATOMIC_INTEGERS(atomicExch, SMP_SIMT_ATOMIC_EXCHANGE, SMP_SIMT_ATOMIC_EXCHANGE)
#define SMP_SIMT_ATOMIC_CAS(T)                                                                                         \
    SMP_DEVICE smp_simt_old<T> atomicCAS(T *at, T expected, T value)                                                   \
    {                                                                                                                  \
        return smp_simt_atomic<T>(SMP_SIMT_ATOMIC_COMPARE, at, value, expected);                                       \
    }
SMP_SIMT_ATOMIC_CAS(int)
SMP_SIMT_ATOMIC_CAS(unsigned)
SMP_SIMT_ATOMIC_CAS(unsigned long long)
SMP_DEVICE void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
SMP_DEVICE void __threadfence_block()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Asynchronous copies happen at the wait, the last moment that a GPU allows. */
template <int BYTES> SMP_DEVICE void smp_copy_async(void *to, const void *from)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes");
    smp_simt_copy_async(to, from, BYTES, 0);
}
template <int BYTES> SMP_DEVICE void smp_copy_async(void *to, const void *from, bool present)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes");
    smp_simt_copy_async(to, present ? from : nullptr, BYTES, 1);
}
template <typename T> SMP_DEVICE void smp_opaque(const T &) {}
SMP_DEVICE void smp_copy_async_along(void *to, const void *from)
{
    smp_copy_async<16>(to, from);
}
SMP_DEVICE void smp_copy_commit()
{
    smp_simt_copy_commit();
}
template <int PENDING> SMP_DEVICE void smp_copy_wait()
{
    smp_simt_copy_wait(PENDING);
}

/* Arithmetic and bits. */
template <typename T> SMP_DEVICE T __ldg(const T *at)
{
    return *at;
}
SMP_DEVICE unsigned __float_as_uint(float v)
{
    unsigned u;
    __builtin_memcpy(&u, &v, 4);
    return u;
}
SMP_DEVICE float __uint_as_float(unsigned u)
{
    float v;
    __builtin_memcpy(&v, &u, 4);
    return v;
}
SMP_DEVICE int __popc(unsigned v)
{
    return __builtin_popcount(v);
}
SMP_DEVICE int __clz(int v)
{
    return v ? __builtin_clz((unsigned)v) : 32;
}
SMP_DEVICE int __ffs(int v)
{
    return __builtin_ffs(v);
}
SMP_DEVICE unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1u) << (31 - i);
    return r;
}
SMP_DEVICE unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
SMP_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    uint64_t both = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) /* the low three bits of each selector count */
        r |= ((unsigned)(both >> 8 * (selector >> 4 * i & 7)) & 0xff) << 8 * i;
    return r;
}
SMP_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
SMP_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
SMP_DEVICE unsigned __vminu2(unsigned a, unsigned b)
{
    const unsigned low = (a & 0xffff) < (b & 0xffff) ? a & 0xffff : b & 0xffff;
    return low | ((a >> 16) < (b >> 16) ? a >> 16 : b >> 16) << 16;
}
SMP_DEVICE unsigned __vimin_s16x2_relu(unsigned a, unsigned b)
{
    unsigned both = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const int x = (int16_t)(a >> shift), y = (int16_t)(b >> shift), least = x < y ? x : y;
        both |= (unsigned)(least < 0 ? 0 : least) << shift;
    }
    return both;
}
SMP_DEVICE unsigned __vmaxu2(unsigned a, unsigned b)
{
    return a + b - __vminu2(a, b); /* each half is one of the two */
}
SMP_DEVICE unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned most)
{
    const unsigned low = (a + b) & 0xffff, high = (a >> 16) + (b >> 16);
    return __vminu2(low | high << 16, most);
}
SMP_DEVICE unsigned __viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned most)
{
    const unsigned low = (a + b) & 0xffff, high = (a >> 16) + (b >> 16);
    return __vimin_s16x2_relu(low | high << 16, most);
}
SMP_DEVICE int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; i++)
        c += (int)(signed char)(a >> 8 * i) * (int)(signed char)(b >> 8 * i);
    return c;
}
SMP_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 4; i++)
        c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
    return c;
}
/* c and the halves of a times the two lower, or upper, bytes of b. */
SMP_DEVICE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c)
{
    return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
SMP_DEVICE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c)
{
    return __dp2a_lo(a, b >> 16, c);
}
#define SMP_SIMT_MIN_MAX(T)                                                                                            \
    SMP_DEVICE T min(T a, T b)                                                                                         \
    {                                                                                                                  \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    SMP_DEVICE T max(T a, T b)                                                                                         \
    {                                                                                                                  \
        return a > b ? a : b;                                                                                          \
    }
SMP_SIMT_MIN_MAX(int)
SMP_SIMT_MIN_MAX(unsigned)
SMP_SIMT_MIN_MAX(long)
SMP_SIMT_MIN_MAX(unsigned long)
SMP_SIMT_MIN_MAX(long long)
SMP_SIMT_MIN_MAX(unsigned long long)
SMP_DEVICE float min(float a, float b)
{
    return fminf(a, b);
}
SMP_DEVICE float max(float a, float b)
{
    return fmaxf(a, b);
}

/* Functions of kernels are called: a trace knows an instruction by its place and the calls that lead there. */
#undef SMP_DEVICE
#define SMP_DEVICE static inline __attribute__((unused))

#endif
