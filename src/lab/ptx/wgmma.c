/* Products of four warps (PTX ISA 9.0, 9.7.15): a of 64 rows from shared memory or registers, b from shared memory,
 * sums of floats in registers. Each warp computes its 16 rows when it issues the instruction. What it moves is not
 * counted: it was not measured. */
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/execute.h"
#include "lab/ptx/matrix.h"

enum { ROWS = 16, MOST_COLUMNS = 256, MOST_DEPTH = 16, DEPTH_BYTES = 32, CHUNK = 16 };
enum { PACK = 8 }; /* rows, or columns of 16 bytes, that lie together */

/* An instruction's own part: `extra`. */
typedef struct product {
    uint32_t columns, depth, element; /* PTX_MMA_* */
    bool from_registers, negate_a, negate_b, turned_a, turned_b;
    bool halves;                             /* sums of halves, two a register */
    uint32_t scale;                          /* a row: whether sums are added to what was there */
    uint32_t a[4], b;                        /* rows of registers, or of the descriptor */
    uint32_t sums[MOST_COLUMNS * ROWS / 32]; /* rows */
} product;

static bool read_shape(const ptx_statement *s, product *p)
{
    unsigned columns, depth;
    char end;
    for (int i = 1; i < s->word_count; i++)
        if (sscanf(s->words[i], "m64n%uk%u%c", &columns, &depth, &end) == 2) {
            p->columns = columns;
            p->depth = depth;
            return columns && columns <= MOST_COLUMNS && columns % 8 == 0;
        }
    return false;
}

static bool read_types(const ptx_statement *s, product *p)
{
    if (s->word_count < 4)
        return false;
    const char(*types)[24] = &s->words[s->word_count - 3]; /* of d, a, b */
    static const char *const names[] = {"f16", "bf16", "tf32"};
    p->halves = !strcmp(types[0], "f16");
    for (uint32_t i = 0; i < 3; i++)
        if (!strcmp(types[1], names[i]) && !strcmp(types[2], names[i])) {
            p->element = i;
            return p->depth == (i == PTX_MMA_TF32 ? 8 : 16) &&
                   (!strcmp(types[0], "f32") || (p->halves && i == PTX_MMA_F16));
        }
    return false;
}

/* The registers in braces, of which there may be many. */
static int read_registers(ptx_parser *parser, ptx_text operand, uint32_t *rows, int most)
{
    ptx_text parts[MOST_COLUMNS / 2];
    if (operand.size < 2 || operand.at[0] != '{')
        return 0;
    const int count = ptx_split((ptx_text){operand.at + 1, operand.size - 2}, ',', parts, MOST_COLUMNS / 2);
    for (int i = 0; i < count && i < most; i++)
        rows[i] = ptx_row(parser, parts[i], 'w');
    return count;
}

static bool read_flag(const ptx_statement *s, int operand, const char *otherwise, const char *set, bool *flag)
{
    *flag = operand < s->operand_count && ptx_is(s->operands[operand], set);
    return operand >= s->operand_count || *flag || ptx_is(s->operands[operand], otherwise);
}

static bool read_product(ptx_parser *parser, const ptx_statement *s, product *p)
{
    if (s->operand_count < 6 || !read_shape(s, p) || !read_types(s, p))
        return false;
    const int sums = (int)(p->columns / (p->halves ? 4 : 2));
    p->from_registers = s->operands[1].at[0] == '{';
    const bool a_ok = p->from_registers ? read_registers(parser, s->operands[1], p->a, 4) == 4 : true;
    if (read_registers(parser, s->operands[0], p->sums, MOST_COLUMNS / 2) != sums || !a_ok)
        return false;
    if (!p->from_registers)
        p->a[0] = ptx_row(parser, s->operands[1], 'd');
    p->b = ptx_row(parser, s->operands[2], 'd');
    p->scale = ptx_row(parser, s->operands[3], 'p');
    const int turned_b = p->from_registers ? 6 : 7;
    return read_flag(s, 4, "1", "-1", &p->negate_a) && read_flag(s, 5, "1", "-1", &p->negate_b) &&
           (p->from_registers || read_flag(s, 6, "0", "1", &p->turned_a)) &&
           read_flag(s, turned_b, "0", "1", &p->turned_b) && s->operand_count <= turned_b + 1 &&
           (p->element != PTX_MMA_TF32 || !(p->turned_a || p->turned_b));
}

/* wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {d}, a, b, p, 1, 1, 0, 0; fence, commit_group, wait_group n */
bool ptx_decode_wgmma(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    char shape[24] = "";
    if (!ptx_has(s, "mma_async")) {
        inst->execute = ptx_run_nothing; /* products are done when they are issued */
        return ptx_only(parser, s, "fence commit_group wait_group sync aligned");
    }
    for (int i = 1; i < s->word_count; i++)
        if (!strncmp(s->words[i], "m64n", 4))
            memcpy(shape, s->words[i], sizeof shape);
    char known[64];
    snprintf(known, sizeof known, "mma_async sync aligned tf32 %s", shape);
    if (!ptx_only(parser, s, known))
        return false;
    product *p = smp_alloc(sizeof *p);
    inst->extra = p;
    inst->execute = ptx_run_wgmma;
    return (p && read_product(parser, s, p)) || ptx_wrong_form(parser, s);
}

/* A descriptor's fields, in bytes. */
typedef struct matrix {
    uint32_t start, lead, stride;
    uint32_t pitch; /* of a pack's rows: 16 without swizzle, 32, 64 or 128 */
} matrix;

static matrix read_descriptor(uint64_t bits)
{
    enum { FIELD = 0x3fff, UNIT_SHIFT = 4, LEAD_AT = 16, STRIDE_AT = 32, SWIZZLE_AT = 62 };
    static const uint32_t pitches[] = {16, 128, 64, 32};
    return (matrix){.start = (uint32_t)(bits & FIELD) << UNIT_SHIFT,
                    .lead = (uint32_t)(bits >> LEAD_AT & FIELD) << UNIT_SHIFT,
                    .stride = (uint32_t)(bits >> STRIDE_AT & FIELD) << UNIT_SHIFT,
                    .pitch = pitches[bits >> SWIZZLE_AT]};
}

/* Returns the place of 16 bytes: of a row (of a) or column (of b), from element 0 of the depth on or, `turned`, of a
 * step in the depth, from the 8th row of a multiple on. */
static uint32_t place_of(const matrix *m, uint32_t row, uint32_t chunk, bool turned)
{
    uint32_t at;
    if (!turned)
        at = row / PACK * m->stride + row % PACK * m->pitch + (m->pitch == CHUNK ? chunk * m->lead : chunk * CHUNK);
    else if (m->pitch == CHUNK)
        at = row * m->stride + chunk % PACK * CHUNK + chunk / PACK * m->lead;
    else {
        const uint32_t across = m->pitch / CHUNK;
        at = row % across * CHUNK + row / across * m->lead + chunk % PACK * m->pitch + chunk / PACK * m->stride;
    }
    const uint32_t place = m->start + at, turns = m->pitch / CHUNK - 1;
    return place ^ (place >> 7 & turns) << 4;
}

static ptx_element value_of(uint32_t word, uint32_t index, const product *p, bool negate)
{
    ptx_element value = ptx_element_in(word, index, p->element);
    value.real = negate ? -value.real : value.real;
    return value;
}

/* Rows from `first` on of a matrix, MOST_DEPTH floats each. False: it leaves shared memory. */
static bool read_matrix(warp_block *block, warp_frame *frame, const warp_inst *inst, const product *p, const matrix *m,
                        uint32_t first, uint32_t rows, bool turned, bool negate, ptx_element (*to)[MOST_DEPTH])
{
    const uint32_t bytes = p->element == PTX_MMA_TF32 ? 4 : 2, each = CHUNK / bytes;
    const uint32_t outer = turned ? rows / PACK : rows, inner = turned ? p->depth : DEPTH_BYTES / CHUNK;
    for (uint32_t r = 0; r < outer; r++)
        for (uint32_t c = 0; c < inner; c++) {
            const uint32_t at = place_of(m, (turned ? first / PACK : first) + r, c, turned);
            if ((uint64_t)at + CHUNK > block->shared_size) {
                warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, 0), UINT32_MAX, 0,
                           "reads a matrix at byte %u of shared memory, of which the block has %u", at,
                           block->shared_size);
                return false;
            }
            warp_check_shared(block, frame, inst, 0, at, CHUNK, WARP_READS);
            for (uint32_t i = 0; i < each; i++) {
                uint32_t word = 0;
                memcpy(&word, block->shared + at + i * bytes, bytes);
                *(turned ? &to[r * PACK + i][c] : &to[r][c * each + i]) = value_of(word, 0, p, negate);
            }
        }
    return true;
}

/* As those of mma: register q of lane 4g + t has row g, and g + 8 where q is odd, and two elements, of tf32 one. */
static void read_rows(const warp_frame *frame, const product *p, ptx_element (*a)[MOST_DEPTH])
{
    const uint32_t each = p->element == PTX_MMA_TF32 ? 1 : 2;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t q = 0; q < 4; q++)
            for (uint32_t i = 0; i < each; i++)
                a[l / 4 + 8 * (q % 2)][(4 * (q / 2) + l % 4) * each + i] =
                    value_of(warp_words(frame, p->a[q])[l], i, p, p->negate_a);
}

void ptx_run_wgmma(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    enum { GROUP = 4 }; /* warps */
    const product *p = inst->extra;
    ptx_element a[ROWS][MOST_DEPTH], b[MOST_COLUMNS][MOST_DEPTH];
    const uint32_t kind = p->halves ? PTX_MMA_HALF_SUMS : PTX_MMA_FLOATS;
    const uint32_t first = frame->warp % GROUP * ROWS, before = warp_pred(frame, p->scale);
    if (lanes != WARP_ALL) {
        warp_stop(block, frame, inst, "wgmma by some lanes of a warp: all must execute it");
        return;
    }
    const matrix of_b = read_descriptor(warp_longs(frame, p->b)[0]);
    if (p->from_registers)
        read_rows(frame, p, a);
    else {
        const matrix of_a = read_descriptor(warp_longs(frame, p->a[0])[0]);
        if (!read_matrix(block, frame, inst, p, &of_a, first, ROWS, p->turned_a, p->negate_a, a))
            return;
    }
    if (!read_matrix(block, frame, inst, p, &of_b, 0, p->columns, p->turned_b, p->negate_b, b))
        return;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t k = 0; k < p->columns / 2; k++) {
            uint32_t row, column, *word = &warp_words(frame, p->sums[p->halves ? k / 2 : k])[l];
            const uint32_t shift = p->halves ? k % 2 * 16 : 0, mask = (p->halves ? 0xffff : UINT32_MAX) << shift;
            ptx_sum_place(l, k, &row, &column);
            const uint32_t sum = before >> l & 1 ? (*word & mask) >> shift : 0;
            *word = (*word & ~mask) | ptx_sum_up(a[row], b[column], p->depth, sum, kind, kind, false) << shift;
        }
}
