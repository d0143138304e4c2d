/* The inside of the PTX reader (PTX ISA 9.0): what its files share. A statement is read by body.c, an instruction by
 * decode*.c, an operand by operands.c; execute*.c, convert.c, matrix.c and call.c carry instructions out. */
#pragma once

#include "lab/machine/machine.h"

typedef enum ptx_type {
    PTX_NONE,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_F32,
    PTX_F64,
    PTX_PRED,
    PTX_E4M3X2,
    PTX_E5M2X2,
    PTX_B128
} ptx_type;

/* A part of the text. */
typedef struct ptx_text {
    const char *at;
    size_t size;
} ptx_text;

typedef enum ptx_symbol_kind { PTX_REGISTER, PTX_RANGE, PTX_VARIABLE, PTX_LABEL } ptx_symbol_kind;

typedef struct ptx_symbol {
    struct ptx_symbol *next; /* in its bucket, the newest first */
    char *name;
    uint32_t depth; /* of the braces around it; 0: the module */
    ptx_symbol_kind kind;
    ptx_type type;
    uint32_t row;   /* PTX_REGISTER */
    uint32_t count; /* PTX_RANGE */
    warp_space space;
    bool undefined;           /* PTX_VARIABLE: no part of the text has it */
    bool in_body;             /* PTX_VARIABLE: a parameter of a call or of a function: lies in local memory */
    uint64_t offset;          /* PTX_VARIABLE: an address for global and const, else an offset */
    uint32_t size, alignment; /* size 0 in shared memory: dynamic */
    uint32_t inst;            /* PTX_LABEL */
} ptx_symbol;

/* Whether other parts of the text know a name. */
typedef enum ptx_linkage { PTX_OWN, PTX_WEAK, PTX_EXTERN } ptx_linkage;

#define PTX_UNDEFINED "it uses '%s', which is declared, and no file defines it"

enum { PTX_BUCKETS = 1024, PTX_WORDS = 16, PTX_OPERANDS = 40 };

typedef struct ptx_loc {
    uint32_t file, line, column, at_file, at_line, at_column; /* at_line 0: not inlined */
} ptx_loc;

typedef struct ptx_jump {
    ptx_text label;
    uint32_t inst, depth;
} ptx_jump;

typedef struct ptx_parser {
    const char *name; /* of the file */
    char *text;       /* comments blanked */
    size_t length, at;
    size_t line_at; /* a position, and the line there */
    uint32_t line;
    struct smp_warp_module *module;
    smp_warp_memory *memory;
    warp_code *code; /* of the function that is read */
    uint32_t architecture;
    ptx_symbol *buckets[PTX_BUCKETS];
    uint32_t constants_met[PTX_BUCKETS]; /* by their bits: the newest of the function, so that few are there twice */
    uint32_t depth;
    size_t first_file;   /* of the part that is read, in the module's */
    ptx_linkage linkage; /* of what is declared next */
    bool looks_ahead;    /* variables alone are read, so that they are known to all parts */
    ptx_loc *locs;
    size_t loc_count, loc_capacity;
    uint32_t file, source_line; /* that instructions come from */
    ptx_jump *jumps;
    size_t jump_count, jump_capacity;
    uint32_t mask_row; /* where the next predicate lies; a multiple of a row: nowhere yet */
    bool narrow; /* the instruction that is read takes numbers of 16 bits, with zeros above as registers have them */
    bool failed;
    smp_error error;
} ptx_parser;

/* An instruction that is being decoded. */
typedef struct ptx_statement {
    ptx_text opcode;
    char words[PTX_WORDS][24]; /* the opcode at its dots */
    int word_count;
    ptx_text operands[PTX_OPERANDS];
    int operand_count;
} ptx_statement;

/* ------------------------------------------------------------------------------------------------ text (text.c) */

bool ptx_is(ptx_text text, const char *word);
ptx_text ptx_trim(ptx_text text);
bool ptx_in_list(const char *list, const char *word); /* of words with blanks between */
/* Cuts at commas outside brackets; returns the number of parts, at most `most`, or -1. */
int ptx_split(ptx_text text, char separator, ptx_text *parts, int most);
char *ptx_copy(ptx_text text); /* null: no memory */
/* Integer or float bits as PTX writes them: 12, 0x1f, 0f3F800000, 0d..., -3. Fractions become bits of `bytes`. */
bool ptx_number(ptx_text text, uint32_t bytes, uint64_t *value);
ptx_type ptx_type_of(const char *word);
uint32_t ptx_size_of(ptx_type type);
bool ptx_is_float(ptx_type type);
bool ptx_is_signed(ptx_type type);
uint32_t ptx_line(ptx_parser *parser, const char *at);
void ptx_blank_comments(char *text, size_t length);

/* The whole text cannot be read. */
void ptx_fail(ptx_parser *parser, const char *at, const char *format, ...) SMP_PRINTF(3, 4);
/* The function that is read cannot run. */
void ptx_refuse(ptx_parser *parser, const char *at, const char *format, ...) SMP_PRINTF(3, 4);

/* ------------------------------------------------------------------------------------------------ symbols */

ptx_symbol *ptx_find(ptx_parser *parser, ptx_text name);
ptx_symbol *ptx_declare(ptx_parser *parser, ptx_text name, ptx_symbol_kind kind);
void ptx_leave(ptx_parser *parser); /* forgets what the innermost braces declared */
uint32_t ptx_new_row(ptx_parser *parser, char row_class);

/* ------------------------------------------------------------------------------------------------ operands */

/* The row of a register, a constant or an address, of class 'w', 'd' or 'p'. */
uint32_t ptx_row(ptx_parser *parser, ptx_text operand, char row_class);
uint32_t ptx_constant(ptx_parser *parser, uint64_t bits, bool wide);
/* 'w', 'd' or 'p' as a register is; 'w' for what is no register. */
char ptx_class(ptx_parser *parser, ptx_text operand);
/* The operands in braces, or the one without. Rows of class 0 are as the register is. */
int ptx_rows(ptx_parser *parser, ptx_text operand, char row_class, uint32_t *rows, int most);
/* [base+offset]: the row of the base in s[slot]. */
void ptx_address(ptx_parser *parser, ptx_text operand, warp_inst *inst, int slot, int64_t *offset);
/* The same, with inst->address_wide as the base's register is. */
void ptx_memory_address(ptx_parser *parser, ptx_text operand, warp_inst *inst, int slot, int64_t *offset);

/* ------------------------------------------------------------------------------------------------ reading */

/* name: a declaration after its space (".align 4 .b8 x[16] = {...}"). */
typedef struct ptx_declaration {
    ptx_text name, initial;
    ptx_type type;
    uint32_t size, alignment, element;
    bool open; /* x[] */
} ptx_declaration;
bool ptx_read_declaration(ptx_parser *parser, ptx_text text, ptx_declaration *out);
ptx_text ptx_until(ptx_parser *parser, char end); /* the text to an end outside brackets, which is skipped */
void ptx_skip_blanks(ptx_parser *parser);
void ptx_read_body(ptx_parser *parser);
void ptx_read_loc(ptx_parser *parser, ptx_text line);
warp_code *ptx_function_of(const struct smp_warp_module *module, const char *name);

/* ------------------------------------------------------------------------------------------------ decoding */

void ptx_decode(ptx_parser *parser, ptx_text statement);
bool ptx_has(const ptx_statement *s, const char *word);
/* Refuses words besides types and those of the list (blank-separated). */
bool ptx_only(ptx_parser *parser, const ptx_statement *s, const char *known);
/* Refuse an instruction: its operands or words do not go together, or `what` ("this form of") is missing here. False.
 */
bool ptx_wrong_form(ptx_parser *parser, const ptx_statement *s);
bool ptx_unsupported(ptx_parser *parser, const ptx_statement *s, const char *what);
/* Source `slot`: a predicate that may be negated, "!p". */
void ptx_predicate(ptx_parser *parser, ptx_text operand, warp_inst *inst, int slot);
/* Makes an instruction of a statement. False: it has said why not, or there is no such instruction. */
typedef bool ptx_decoder(ptx_parser *parser, const ptx_statement *s, warp_inst *inst);
ptx_decoder ptx_decode_alu, ptx_decode_carry, ptx_decode_convert, ptx_decode_access, ptx_decode_atomic, ptx_decode_copy,
    ptx_decode_window, ptx_decode_is_space, ptx_decode_rank, ptx_decode_mbarrier, ptx_decode_tensor, ptx_decode_bulk,
    ptx_decode_barrier, ptx_decode_shuffle, ptx_decode_vote, ptx_decode_match, ptx_decode_reduce, ptx_decode_active,
    ptx_decode_elect, ptx_decode_wmma, ptx_decode_mma, ptx_decode_wgmma, ptx_decode_ldmatrix, ptx_decode_stmatrix,
    ptx_decode_movmatrix, ptx_decode_call, ptx_decode_texture, ptx_decode_surface;
void ptx_mark_unused(warp_code *code);
void ptx_mark_tried(warp_code *code);                /* loads of what a swap follows */
void ptx_mark_by_data(warp_code *code);              /* whose addresses were read */
bool ptx_is_malloc(const warp_inst *inst);           /* a call of it */
void ptx_link_calls(struct smp_warp_module *module); /* once all functions are read */
/* The address of a function that may come later in the text; 0: no memory. */
uint64_t ptx_function_pointer(ptx_parser *parser, ptx_text name);
