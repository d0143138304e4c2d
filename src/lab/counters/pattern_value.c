/* Values of patterns: evaluates expressions in a lane, and the elements and masks of a warp. See pattern.h. */

#include "lab/counters/pattern.h"

static bool wrong(smp_diags *diags, smp_span span, int lane, const char *what)
{
    smp_diags_add(diags, SMP_ERROR, span, "%s in lane %d", what, lane);
    return false;
}

/* SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine. */
static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int64_t reversed_bits(int64_t value, int64_t bits)
{
    uint64_t result = (uint64_t)value >> bits << bits; /* the bits above stay */
    for (int64_t i = 0; i < bits; i++)
        result |= ((uint64_t)value >> i & 1) << (bits - 1 - i);
    return (int64_t)result;
}

typedef struct scope {
    const smp_pattern *pattern;
    int lane;
    smp_pattern_block block;
    smp_diags *diags;
} scope;

/* Operators and functions that need all their operands. */
static bool compute(const scope *s, const smp_pattern_node *node, int64_t a, int64_t b, int64_t *out)
{
    const int op = node->op;
    bool overflow = false;
    if ((op == SMP_PN_LEFT || op == SMP_PN_RIGHT) && (b < 0 || b > 62))
        return wrong(s->diags, node->span, s->lane, "a shift by less than 0 or more than 62 bits");
    if ((op == SMP_PN_DIVIDE || op == SMP_PN_REMAINDER) && b == 0)
        return wrong(s->diags, node->span, s->lane, "division by zero");
    if (op == SMP_PN_BREV && (b < 0 || b > 32))
        return wrong(s->diags, node->span, s->lane, "brev of less than 0 or more than 32 bits");
    if (op == SMP_PN_RANDOM && a <= 0)
        return wrong(s->diags, node->span, s->lane, "random below a number that is not positive");
    switch (op) {
#define SET(value) (*out = (value), false)
#define CASE(op, effect)                                                                                               \
    case SMP_PN_##op:                                                                                                  \
        overflow = (effect);                                                                                           \
        break;
#define LEAF(op, value)                         CASE(op, SET(value))
#define PREFIX(op, mark, effect)                CASE(op, effect)
#define OPERATOR(op, text, level, effect)       CASE(op, effect)
#define FUNCTION(op, name, least, most, effect) CASE(op, effect)
#include "lab/counters/pattern_op_list.def"
    default:
        return false;
    }
    return overflow ? wrong(s->diags, node->span, s->lane, "overflow") : true;
}

static bool value_of(const scope *s, int at, int64_t *out)
{
    const smp_pattern_node *node = &s->pattern->nodes[at];
    int64_t a = 0, b = 0;
    if (node->op <= SMP_PN_BLOCK_Z) /* a leaf */
        return compute(s, node, a, b, out);
    if (!value_of(s, node->operands[0], &a))
        return false;
    if (node->op == SMP_PN_CHOOSE) /* the operands of ? : && || are evaluated only where they count, as in C */
        return value_of(s, node->operands[a ? 1 : 2], out);
    const bool known = node->op == SMP_PN_EITHER ? a != 0 : node->op == SMP_PN_BOTH && !a;
    return (known || node->operands[1] < 0 || value_of(s, node->operands[1], &b)) && compute(s, node, a, b, out);
}

/* Without a number of rows, the block has those that the warp reaches. */
static smp_pattern_block whole(const smp_pattern_block *given)
{
    smp_pattern_block block = given ? *given : (smp_pattern_block){SMP_WARP, 0, 0};
    block.x = block.x > 0 ? block.x : SMP_WARP;
    if (block.y <= 0)
        block.y = (SMP_WARP + block.x - 1) / block.x;
    block.z = block.z > 0 ? block.z : 1;
    return block;
}

bool smp_pattern_value(const smp_pattern *pattern, int node, int lane, const smp_pattern_block *block, smp_diags *diags,
                       int64_t *out)
{
    scope s = {pattern, lane, whole(block), diags};
    *out = 0;
    return value_of(&s, node, out);
}

static smp_code fail_outside(const smp_pattern *pattern, int dimension, int lane, int64_t value, int64_t size,
                             smp_diags *diags)
{
    smp_span span = pattern->nodes[pattern->index[dimension]].span;
    smp_diag *diag = smp_diags_add(diags, SMP_ERROR, span, "lane %d is outside: index %lld", lane, (long long)value);
    if (pattern->dims)
        smp_diag_fix(diags, diag, "0 to %lld is inside", (long long)size - 1);
    else
        smp_diag_fix(diags, diag, value < 0 ? "shared memory begins at 0" : "past any shared memory");
    if (lane)
        smp_diag_note(diags, diag, "--mask leaves out lanes that take no part: --mask 'tid < %d'", lane);
    return SMP_E_USAGE;
}

smp_code smp_pattern_elements(const smp_pattern *pattern, const smp_pattern_block *block, uint32_t active, int size,
                              smp_diags *diags, smp_elements *out)
{
    int64_t most = SMP_ELEMENT_BYTES / size, count = 1;
    *out = (smp_elements){.active = active, .dims = pattern->dims ? pattern->dims : 1};
    for (int i = 0; i < pattern->dims; i++) {
        out->dim[i] = pattern->dim[i];
        count *= count <= most ? pattern->dim[i] : 1;
    }
    if (count > most) {
        smp_diag *diag = smp_diags_add(diags, SMP_ERROR, pattern->span, "this array is larger than 1 MiB");
        smp_diag_note(diags, diag, "a block of today's largest GPUs can have 227 KiB of shared memory");
        return SMP_E_USAGE;
    }
    if (pattern->walk != SMP_WALK_INDEX) {
        smp_elements_walk(pattern->walk, pattern->dim[0], pattern->dim[1], pattern->walk_from, out);
        out->active &= active;
        return SMP_OK;
    }
    for (int lane = 0; lane < SMP_WARP; lane++) {
        if (!(active >> lane & 1))
            continue;
        for (int i = 0; i < out->dims; i++) {
            int64_t value, length = pattern->dims ? pattern->dim[i] : most;
            if (!smp_pattern_value(pattern, pattern->index[i], lane, block, diags, &value))
                return SMP_E_USAGE;
            if (value < 0 || value >= length)
                return fail_outside(pattern, i, lane, value, length, diags);
            out->at[lane][i] = value;
        }
    }
    return SMP_OK;
}

smp_code smp_pattern_mask(const char *name, const char *text, const smp_pattern_block *block, smp_diags *diags,
                          uint32_t *out)
{
    smp_pattern pattern;
    int64_t value;
    SMP_TRY(smp_pattern_parse(name, text, diags, &pattern));
    *out = 0;
    if (pattern.dims || pattern.type) {
        smp_diag *diag = smp_diags_add(diags, SMP_ERROR, pattern.span, "a mask cannot be an array");
        smp_diag_fix(diags, diag, "write 0x0000ffff or a condition: tid < 16");
        return SMP_E_USAGE;
    }
    if (!pattern.tid) {
        if (!smp_pattern_value(&pattern, pattern.index[0], 0, block, diags, &value))
            return SMP_E_USAGE;
        if (value < 0 || value > (int64_t)UINT32_MAX) {
            smp_diag *diag = smp_diags_add(diags, SMP_ERROR, pattern.span, "a mask has 32 bits, one for each lane");
            smp_diag_fix(diags, diag, "0 to 0xffffffff");
            return SMP_E_USAGE;
        }
        *out = (uint32_t)value;
        return SMP_OK;
    }
    for (int lane = 0; lane < SMP_WARP; lane++) {
        if (!smp_pattern_value(&pattern, pattern.index[0], lane, block, diags, &value))
            return SMP_E_USAGE;
        *out |= (uint32_t)(value != 0) << lane;
    }
    return SMP_OK;
}
