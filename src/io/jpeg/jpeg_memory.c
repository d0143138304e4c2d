/* A memory manager for libjpeg on the counted allocator: the library's own calls malloc, which bypasses every limit.
 * Virtual arrays stay in memory. Source: libjpeg.txt, "Memory management"; structure.txt, "Memory manager". */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/jpeg/jpeg_glue.h"

#include <jerror.h>

enum { ROW_ALIGN = 64 /* bytes: libjpeg-turbo's vector code works on whole pairs of registers */ };

struct smp_jpeg_block {
    smp_jpeg_block *next;
    uint64_t size;
    char pad[ROW_ALIGN - sizeof(smp_jpeg_block *) - sizeof(uint64_t)]; /* aligns what follows */
};

struct jvirt_sarray_control {
    JSAMPARRAY rows;
    bool zero;
    JDIMENSION width, height;
    jvirt_sarray_ptr next;
};
struct jvirt_barray_control {
    JBLOCKARRAY rows;
    bool zero;
    JDIMENSION width, height;
    jvirt_barray_ptr next;
};

static smp_jpeg_memory *memory_of(j_common_ptr cinfo)
{
    return (smp_jpeg_memory *)(void *)cinfo->mem;
}

static _Noreturn void refuse(j_common_ptr cinfo, size_t size)
{
    smp_jpeg_memory *memory = memory_of(cinfo);
    if (!memory->refused)
        memory->refused = size ? size : 1;
    cinfo->err->msg_code = JERR_OUT_OF_MEMORY;
    cinfo->err->msg_parm.i[0] = 0;
    cinfo->err->error_exit(cinfo);
    __builtin_unreachable();
}

static void *take(j_common_ptr cinfo, int pool, size_t size)
{
    smp_jpeg_memory *memory = memory_of(cinfo);
    if (pool < 0 || pool >= JPOOL_NUMPOOLS)
        ERREXIT1(cinfo, JERR_BAD_POOL_ID, pool);
    if (size > memory->cap - memory->live) {
        memory->over_cap = true;
        refuse(cinfo, size);
    }
    size_t total;
    smp_jpeg_block *block = smp_add_size(size, sizeof *block, &total) ? smp_alloc_raw(total) : NULL;
    if (!block)
        refuse(cinfo, size);
    block->next = memory->blocks[pool];
    block->size = size;
    memory->blocks[pool] = block;
    memory->live += size;
    return block + 1;
}

/* Memory for `count` rows of `row` bytes, with the pointers to them in front. */
static void *take_rows(j_common_ptr cinfo, int pool, size_t row, JDIMENSION count, bool zero)
{
    size_t pointers, bytes, total;
    if (!smp_add_size(row, ROW_ALIGN - 1, &row) || !smp_mul_size(row &= ~(size_t)(ROW_ALIGN - 1), count, &bytes) ||
        !smp_mul_size(count, sizeof(void *), &pointers) || !smp_add_size(pointers, ROW_ALIGN - 1, &pointers) ||
        !smp_add_size(pointers &= ~(size_t)(ROW_ALIGN - 1), bytes, &total))
        refuse(cinfo, SIZE_MAX);
    char *block = take(cinfo, pool, total);
    void **rows = (void **)(void *)block;
    for (size_t i = 0; i < count; i++)
        rows[i] = block + pointers + i * row;
    if (zero)
        memset(block + pointers, 0, bytes);
    return rows;
}

static JSAMPARRAY take_samples(j_common_ptr cinfo, int pool, JDIMENSION width, JDIMENSION rows)
{
    return take_rows(cinfo, pool, (size_t)width * sizeof(JSAMPLE), rows, false);
}

static JBLOCKARRAY take_blocks(j_common_ptr cinfo, int pool, JDIMENSION width, JDIMENSION rows)
{
    return take_rows(cinfo, pool, (size_t)width * sizeof(JBLOCK), rows, false);
}

static jvirt_sarray_ptr request_samples(j_common_ptr cinfo, int pool, boolean zero, JDIMENSION width, JDIMENSION height,
                                        JDIMENSION)
{
    smp_jpeg_memory *memory = memory_of(cinfo);
    jvirt_sarray_ptr array = take(cinfo, pool, sizeof *array);
    *array = (struct jvirt_sarray_control){NULL, zero, width, height, memory->sample_arrays};
    return memory->sample_arrays = array;
}

static jvirt_barray_ptr request_blocks(j_common_ptr cinfo, int pool, boolean zero, JDIMENSION width, JDIMENSION height,
                                       JDIMENSION)
{
    smp_jpeg_memory *memory = memory_of(cinfo);
    jvirt_barray_ptr array = take(cinfo, pool, sizeof *array);
    *array = (struct jvirt_barray_control){NULL, zero, width, height, memory->block_arrays};
    return memory->block_arrays = array;
}

static void realize(j_common_ptr cinfo)
{
    smp_jpeg_memory *memory = memory_of(cinfo);
    for (jvirt_sarray_ptr a = memory->sample_arrays; a; a = a->next)
        if (!a->rows)
            a->rows = take_rows(cinfo, JPOOL_IMAGE, (size_t)a->width * sizeof(JSAMPLE), a->height, a->zero);
    for (jvirt_barray_ptr a = memory->block_arrays; a; a = a->next)
        if (!a->rows)
            a->rows = take_rows(cinfo, JPOOL_IMAGE, (size_t)a->width * sizeof(JBLOCK), a->height, a->zero);
}

static JSAMPARRAY access_samples(j_common_ptr cinfo, jvirt_sarray_ptr array, JDIMENSION start, JDIMENSION rows, boolean)
{
    if (!array->rows || rows > array->height || start > array->height - rows)
        ERREXIT(cinfo, JERR_BAD_VIRTUAL_ACCESS);
    return array->rows + start;
}

static JBLOCKARRAY access_blocks(j_common_ptr cinfo, jvirt_barray_ptr array, JDIMENSION start, JDIMENSION rows, boolean)
{
    if (!array->rows || rows > array->height || start > array->height - rows)
        ERREXIT(cinfo, JERR_BAD_VIRTUAL_ACCESS);
    return array->rows + start;
}

static void free_pool(j_common_ptr cinfo, int pool)
{
    smp_jpeg_memory *memory = memory_of(cinfo);
    if (pool == JPOOL_IMAGE) { /* their descriptors are in that pool */
        memory->sample_arrays = NULL;
        memory->block_arrays = NULL;
    }
    for (smp_jpeg_block *block = memory->blocks[pool], *next; block; block = next) {
        next = block->next;
        memory->live -= block->size;
        smp_free(block);
    }
    memory->blocks[pool] = NULL;
}

static void self_destruct(j_common_ptr cinfo)
{
    smp_jpeg_memory *memory = memory_of(cinfo);
    for (int pool = JPOOL_NUMPOOLS - 1; pool >= 0; pool--)
        free_pool(cinfo, pool);
    cinfo->mem = memory->original;
    cinfo->mem->self_destruct(cinfo);
}

void smp_jpeg_adopt_memory(smp_jpeg *state, j_common_ptr cinfo, uint64_t cap)
{
    smp_jpeg_memory *memory = &state->memory;
    *memory = (smp_jpeg_memory){.original = cinfo->mem, .cap = cap};
    memory->manager = (struct jpeg_memory_mgr){
        .alloc_small = take,
        .alloc_large = take,
        .alloc_sarray = take_samples,
        .alloc_barray = take_blocks,
        .request_virt_sarray = request_samples,
        .request_virt_barray = request_blocks,
        .realize_virt_arrays = realize,
        .access_virt_sarray = access_samples,
        .access_virt_barray = access_blocks,
        .free_pool = free_pool,
        .self_destruct = self_destruct,
        .max_memory_to_use = cinfo->mem->max_memory_to_use,
        .max_alloc_chunk = cinfo->mem->max_alloc_chunk,
    };
    cinfo->mem = &memory->manager;
}
