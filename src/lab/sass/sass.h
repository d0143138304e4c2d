/* The inside of the SASS reader: what its files share. SASS comes as nvdisasm writes it (-c -gi). A line is cut by
 * text.c, its operands become rows in operands.c, decode*.c make instructions of the machine, run*.c carry them out;
 * cubin.c reads what the text does not tell. Registers are rows of 32 words, R0 first; 64 bits are two rows. */
#pragma once

#include "lab/ptx/ptx.h"

enum {
    SASS_WORD_ROW = 4 * WARP_LANES, /* bytes of a row */
    SASS_INST_BYTES = 16,
    SASS_WORDS = 12,    /* of an opcode */
    SASS_OPERANDS = 12, /* of an instruction */
    SASS_BARRIERS = 16, /* B0.., where lanes converge */
    SASS_ZERO_ROWS = 4  /* of RZ, and of what is written to it: 16 bytes a lane */
};

typedef ptx_text sass_text;

typedef enum sass_kind {
    SASS_NONE,
    SASS_REGISTER,
    SASS_UNIFORM,
    SASS_PREDICATE,
    SASS_UNIFORM_PREDICATE,
    SASS_NUMBER,
    SASS_BANK,    /* c[0x0][0x210] */
    SASS_MEMORY,  /* [R2.64+0x10], desc[UR4][R2.64] */
    SASS_SPECIAL, /* SR_TID.X */
    SASS_LABEL,
    SASS_BARRIER /* B0 */
} sass_kind;

enum { SASS_RZ = 255, SASS_PT = 7, SASS_NO_UNIFORM = -1 };

typedef struct sass_operand {
    sass_kind kind;
    sass_text text;
    int number; /* of a register; of memory and banks: that of the base */
    bool negate, absolute, invert;
    bool wide;       /* .64 */
    uint8_t half;    /* 1: H0_H0, 2: H1_H1, 0: both */
    int8_t byte;     /* .B0 to .B3, else -1 */
    uint8_t scale;   /* of a base: .X4 is 2 */
    uint32_t bits;   /* of a number, as a 32-bit integer or float */
    uint64_t whole;  /* of a number that is written with more than 32 bits; else 0 */
    double real;     /* of a number that is written as a float */
    bool is_nan;     /* it is written as a NaN, of unknown bits */
    bool is_integer; /* it is written as an integer */
    uint32_t bank;
    int64_t offset;
    int uniform; /* SASS_MEMORY: UR that is added */
    bool uniform_wide;
} sass_operand;

/* One instruction of the text. */
typedef struct sass_line {
    sass_text text;
    char words[SASS_WORDS][20]; /* the opcode at its dots */
    int word_count;
    sass_operand operands[SASS_OPERANDS];
    int count;
    sass_operand guard; /* kind SASS_NONE: none */
    bool spills;        /* nvdisasm remarks that it does */
    uint32_t text_line, file, line;
} sass_line;

/* Changes to a source before it is used. */
enum {
    SASS_NEGATE = 1,       /* an integer */
    SASS_INVERT = 2,       /* its bits */
    SASS_NEGATE_FLOAT = 4, /* the sign of 32 bits */
    SASS_ABS_FLOAT = 8,    /* */
    SASS_ABS = 16,         /* an integer */
    SASS_LOW_HALF = 32,    /* the low half twice */
    SASS_HIGH_HALF = 64,   /* the high half twice */
    SASS_NEGATE_HALVES = 128,
    SASS_ABS_HALVES = 256
};

/* Beside how far a byte of a source is shifted to the right: nothing is; its lower or upper half is taken. */
enum { SASS_WHOLE = 32, SASS_LOW, SASS_HIGH };

/* The part of an instruction that the machine's does not hold. */
typedef struct sass_op {
    uint32_t source[4]; /* rows; 64 bits: the low row */
    uint16_t change[4];
    uint8_t shift[4];
    uint32_t to;         /* the result's row; 64 bits: the low row */
    uint32_t pred_to[2]; /* predicates that are written, or WARP_NO_ROW */
    uint32_t pred[3];    /* predicates that are read */
    bool pred_not[3];
    uint32_t groups; /* a row of masks of the lanes that one operation of a warp is for, 0: of all; one more: whether
                        they outlast it. WARP_NO_ROW: it is for all */
    uint8_t mode, submode, lut;
    uint8_t rounding; /* 0 nearest, 1 down, 2 up, 3 to zero */
    bool uniform;     /* all lanes execute it */
    bool is_signed, high, carry, wide, wrap;
    bool flush, saturate;
} sass_op;

/* The functions over whole rows, compiled once for each instruction set (lanes*.c). */
#define SASS_FUNCTION_LIST(F)                                                                                          \
    F(COPY, copy)                                                                                                      \
    F(ADD3, add3)                                                                                                      \
    F(ADD3_CARRY, add3_carry)                                                                                          \
    F(MULTIPLY, multiply)                                                                                              \
    F(MULTIPLY_WIDE, multiply_wide)                                                                                    \
    F(LEA, lea)                                                                                                        \
    F(LOGIC, logic)                                                                                                    \
    F(SHIFT, shift)                                                                                                    \
    F(COMPARE, compare)                                                                                                \
    F(SELECT, select)                                                                                                  \
    F(PERMUTE, permute)                                                                                                \
    F(MINMAX, minmax) F(ADD_MINMAX, add_minmax) F(UNARY, unary) F(FADD, fadd) F(FMUL, fmul) F(FFMA, ffma)              \
        F(FMINMAX, fminmax) F(FCOMPARE, fcompare) F(HALVES, halves) F(DOUBLES, doubles) F(DCOMPARE, dcompare)
#define SASS_FUNCTION(upper, lower) SASS_##upper,
typedef enum sass_function { SASS_FUNCTION_LIST(SASS_FUNCTION) SASS_FUNCTIONS } sass_function;
extern warp_execute *const sass_functions_base[SASS_FUNCTIONS];
extern warp_execute *const sass_functions_v3[SASS_FUNCTIONS];

/* Comparisons, in bits: less, equal, greater, unordered. */
enum { SASS_LESS = 1, SASS_EQUAL = 2, SASS_GREATER = 4, SASS_UNORDERED = 8 };
/* Operators by which a comparison joins a predicate. */
enum { SASS_AND, SASS_OR, SASS_XOR };
/* DSETP.MAX and .MIN, in lut */
enum { SASS_MAX = 1, SASS_MIN };
/* modes of SASS_UNARY */
enum { SASS_POPC, SASS_FLO, SASS_FLO_SHIFT, SASS_BREV, SASS_IABS };
/* modes of SASS_HALVES and SASS_DOUBLES */
enum { SASS_ADDS, SASS_MULTIPLIES, SASS_FUSES, SASS_LEASTS };

/* A label of a function. */
typedef struct sass_label {
    sass_text name;
    uint32_t at;
} sass_label;

typedef struct sass_jump {
    sass_text label;
    uint32_t inst;
} sass_jump;

typedef struct sass_parser {
    const char *name;
    const char *text;
    size_t length;
    struct smp_warp_module *module;
    const struct smp_warp_module *ptx; /* the same program's; null: there is none */
    warp_code *code;                   /* that is decoded */
    sass_text section;                 /* its symbol */
    sass_line *lines;                  /* of it */
    size_t line_count, line_capacity;
    sass_label *labels;
    size_t label_count, label_capacity;
    sass_jump *jumps;
    size_t jump_count, jump_capacity;
    uint32_t architecture;                                      /* 90 */
    uint32_t zero, sink, uniforms, predicates, truth, barriers; /* rows */
    uint32_t groups;                                            /* as in sass_op */
    uint32_t reduced; /* what a barrier's reduction left: a number, a predicate */
    uint32_t file, source_line;
    bool inherits; /* the place is still that of the section before */
    size_t inherited;
    bool chosen; /* the source line of a chain of inlining is found */
    bool failed;
    smp_error error;
} sass_parser;

/* ------------------------------------------------------------------------------------------------ text.c */

/* Cuts an instruction ("@!P0 LDS.64 R2, [R4+UR5] "); false: it has too many parts. */
bool sass_cut(sass_text text, sass_line *line);

/* ------------------------------------------------------------------------------------------------ operands.c */

void sass_read_operand(sass_text text, sass_operand *operand);
void sass_lay_out(sass_parser *parser);
/* The first of `words` rows that hold an operand; WARP_NO_ROW: it is none. is_float: a number is a float. */
uint32_t sass_row(sass_parser *parser, const sass_operand *operand, int words, bool is_float);
uint32_t sass_to(sass_parser *parser, const sass_operand *operand); /* of a result; RZ: a row that nobody reads */
uint32_t sass_constant(sass_parser *parser, uint32_t low, uint32_t high);
uint32_t sass_predicate(sass_parser *parser, const sass_operand *operand);    /* that is read */
uint32_t sass_predicate_to(sass_parser *parser, const sass_operand *operand); /* that is written */
bool sass_is_predicate(const sass_operand *operand);
uint32_t sass_barrier(const sass_parser *parser, int number);

/* ------------------------------------------------------------------------------------------------ decode*.c */

void sass_decode(sass_parser *parser, const sass_line *line);
bool sass_has(const sass_line *line, const char *word);
/* Refuses a kernel with an instruction that cannot be executed. Returns false. */
bool sass_refuse(sass_parser *parser, const sass_line *line, const char *why);
/* Refuses words of the opcode besides those of a list (blank-separated). */
bool sass_only(sass_parser *parser, const sass_line *line, const char *known);
/* Source `slot` of `words` rows from an operand. */
bool sass_source(sass_parser *parser, const sass_line *line, sass_op *op, int slot, int operand, int words,
                 bool is_float);
/* The result's row from an operand, and with it sources from the operands behind the first. */
bool sass_result(sass_parser *parser, const sass_line *line, sass_op *op, int operand);
bool sass_operands(sass_parser *parser, const sass_line *line, sass_op *op, int sources, int words, bool is_float);
/* How a comparison is, and how it is joined. .LTU holds for NaNs, .LT does not. False: it names none. */
bool sass_comparison(const sass_line *line, sass_op *op);
/* Predicate `slot` from an operand; without one it is `otherwise`. */
void sass_condition(sass_parser *parser, const sass_line *line, sass_op *op, int slot, int operand, bool otherwise);
/* Memory from the operand at that place. */
bool sass_set_address(sass_parser *parser, const sass_line *line, int operand, warp_space space, warp_inst *inst);
warp_execute *sass_function_of(sass_function function);

typedef bool sass_decoder(sass_parser *parser, const sass_line *line, warp_inst *inst, sass_op *op);
sass_decoder sass_decode_nothing; /* what the machine does anyway, or need not do */
typedef struct sass_decoder_row {
    const char *names; /* of operations, with blanks between */
    sass_decoder *decode;
    const char *known; /* words of the opcode that it understands */
} sass_decoder_row;
extern const sass_decoder_row sass_integer_decoders[], sass_float_decoders[], sass_memory_decoders[],
    sass_flow_decoders[], sass_mbarrier_decoders[];

/* ------------------------------------------------------------------------------------------------ run*.c */

warp_execute sass_run_nothing, sass_run_enter, sass_run_break, sass_run_special, sass_run_bank, sass_run_first,
    sass_run_shuffle, sass_run_vote, sass_run_match, sass_run_reduce, sass_run_call, sass_run_plop3,
    sass_run_pack_preds, sass_run_unpack_preds, sass_run_mufu, sass_run_convert, sass_run_check_division,
    sass_run_pack_halves, sass_run_convert_pair, sass_run_elect, sass_run_mask, sass_run_here, sass_run_half_compare,
    sass_run_dot, sass_run_difference, sass_run_minmax, sass_run_minmax3, sass_run_add_long, sass_run_swap,
    sass_run_double_product, sass_run_part, sass_run_join, sass_run_global_atomic, sass_run_query;

/* ------------------------------------------------------------------------------------------------ cubin.c */

/* The address of what the system does for kernels (ptx_services): of the first; others follow. */
#define SASS_SERVICES (UINT64_C(0x5053) << 44)

/* The kernels' shared and local memory, parameters and constant banks; variables are those of `variables` (may be
 * null), or are made in memory. */
smp_code sass_read_cubin(const void *cubin, size_t size, struct smp_warp_module *module,
                         const smp_warp_module *variables, smp_warp_memory *memory, smp_error *err);
