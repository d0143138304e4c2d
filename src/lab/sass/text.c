/* Cuts an instruction of nvdisasm's text into its opcode's words and operands. */
#include <string.h>

#include "lab/sass/sass.h"

static bool cut_opcode(sass_text opcode, sass_line *line)
{
    line->word_count = 0;
    while (opcode.size) {
        size_t size = 0;
        while (size < opcode.size && opcode.at[size] != '.')
            size++;
        if (line->word_count == SASS_WORDS || size >= sizeof line->words[0] || !size)
            return false;
        memcpy(line->words[line->word_count], opcode.at, size);
        line->words[line->word_count++][size] = 0;
        size += size < opcode.size;
        opcode.at += size;
        opcode.size -= size;
    }
    return line->word_count > 0;
}

/* Commas outside brackets part operands, and so does the mark of a label. */
static bool cut_operands(sass_text text, sass_line *line)
{
    int depth = 0;
    size_t begin = 0;
    line->count = 0;
    for (size_t i = 0; i <= text.size; i++) {
        const char c = i < text.size ? text.at[i] : ',';
        depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
        const bool ends = (c == ',' && (!depth || i == text.size)) || (c == '`' && i > begin && !depth);
        if (!ends)
            continue;
        const sass_text part = ptx_trim((sass_text){text.at + begin, i - begin});
        begin = c == '`' ? i : i + 1;
        if (!part.size)
            continue;
        if (line->count == SASS_OPERANDS)
            return false;
        sass_read_operand(part, &line->operands[line->count++]);
    }
    return true;
}

/* Without nvdisasm's remark: (*"SpillRefill"*) */
static sass_text without_remark(sass_text text, bool *spills)
{
    static const char spill[] = "(*\"Spill";
    *spills = false;
    for (size_t i = 0; i + 1 < text.size; i++)
        if (text.at[i] == '(' && text.at[i + 1] == '*') {
            *spills = text.size - i >= strlen(spill) && !memcmp(text.at + i, spill, strlen(spill));
            return (sass_text){text.at, i};
        }
    return text;
}

bool sass_cut(sass_text text, sass_line *line)
{
    text = ptx_trim(without_remark(text, &line->spills));
    line->text = text;
    line->guard.kind = SASS_NONE;
    if (text.size && text.at[0] == '@') {
        size_t size = 1;
        while (size < text.size && text.at[size] != ' ')
            size++;
        sass_read_operand((sass_text){text.at + 1, size - 1}, &line->guard);
        if (!sass_is_predicate(&line->guard))
            return false;
        text = ptx_trim((sass_text){text.at + size, text.size - size});
    }
    size_t size = 0;
    while (size < text.size && text.at[size] != ' ')
        size++;
    return cut_opcode((sass_text){text.at, size}, line) &&
           cut_operands((sass_text){text.at + size, text.size - size}, line);
}
