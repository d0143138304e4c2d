/* See json_read.h. */
#include "report/json_read.h"
#include "base/alloc.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64 };

typedef struct reader {
    char *text, *at;
    smp_json_tree *tree;
    uint32_t open[MOST_DEPTH]; /* objects and arrays that are not closed yet */
    uint32_t last[MOST_DEPTH]; /* of each its last node so far */
    int depth;
    smp_error *err;
} reader;

static bool wrong(reader *r, const char *what)
{
    size_t line = 1;
    for (const char *at = r->text; at < r->at; at++)
        line += *at == '\n';
    smp_fail(r->err, SMP_E_DECODE, "line %zu is not JSON: %s", line, what);
    return false;
}

/* The four digits behind \u. */
static bool read_hex(reader *r, uint32_t *code)
{
    char digits[5] = "";
    for (int i = 0; i < 4; i++)
        if (!(digits[i] = r->at[i]) || !strchr("0123456789abcdefABCDEF", digits[i]))
            return wrong(r, "four digits belong behind \\u");
    *code = (uint32_t)strtoul(digits, NULL, 16);
    r->at += 4;
    return true;
}

static bool read_escape(reader *r, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *known = *r->at ? strchr(from, *r->at) : NULL;
    uint32_t code, low;
    if (known) {
        *(*to)++ = into[known - from];
        r->at++;
        return true;
    }
    if (*r->at++ != 'u' || !read_hex(r, &code))
        return r->err->code ? false : wrong(r, "an unknown escape");
    if (code >= 0xd800 && code < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        if (!read_hex(r, &low))
            return false;
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    } else if ((code >= 0xd800 && code < 0xe000) || !code) /* half a pair; a text's end */
        code = 0xfffd;
    *to += smp_utf8_encode(*to, code);
    return true;
}

/* A string is never longer than what it is written as, so that it is decoded in its place. */
static bool read_string(reader *r, const char **out)
{
    char *to = ++r->at;
    *out = to;
    while (*r->at != '"') {
        if ((unsigned char)*r->at < ' ')
            return wrong(r, "a string does not end");
        if (*r->at != '\\')
            *to++ = *r->at++;
        else if (r->at++, !read_escape(r, &to))
            return false;
    }
    r->at++;
    *to = 0;
    return true;
}

static void skip_blanks(reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static bool read_scalar(reader *r, smp_json_node *node)
{
    static const char *const words[] = {"true", "false", "null"};
    char *end;
    if (node->type == '"')
        return read_string(r, &node->text);
    for (int i = 0; i < 3; i++)
        if (!strncmp(r->at, words[i], strlen(words[i]))) {
            r->at += strlen(words[i]);
            return true;
        }
    node->number = strchr("-0123456789", node->type) ? strtod(r->at, &end) : 0;
    if (!node->type || !strchr("-0123456789", node->type) || end == r->at)
        return wrong(r, "a value is missing");
    node->type = '0';
    r->at = end;
    return true;
}

/* A value and the key before it; objects and arrays are opened. */
static bool read_value(reader *r)
{
    smp_json_node node = {.key = NULL};
    smp_json_tree *tree = r->tree;
    if (r->depth && tree->nodes[r->open[r->depth - 1]].type == '{') {
        if (*r->at != '"')
            return wrong(r, "a key is missing");
        if (!read_string(r, &node.key))
            return false;
        skip_blanks(r);
        if (*r->at++ != ':')
            return wrong(r, "a ':' is missing");
        skip_blanks(r);
    }
    node.type = *r->at;
    const bool opens = node.type == '{' || node.type == '[';
    if (opens ? r->at++, false : !read_scalar(r, &node))
        return false;
    if (tree->count >= UINT32_MAX || (opens && r->depth == MOST_DEPTH))
        return wrong(r, "it is nested too deeply");
    if (!smp_grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof *tree->nodes)) {
        smp_fail_memory(r->err, "JSON", tree->count * sizeof node);
        return false;
    }
    const uint32_t index = (uint32_t)tree->count++;
    tree->nodes[index] = node;
    if (r->depth) {
        const uint32_t before = r->last[r->depth - 1];
        *(before ? &tree->nodes[before].next : &tree->nodes[r->open[r->depth - 1]].child) = index;
        r->last[r->depth - 1] = index;
    }
    if (opens) {
        r->last[r->depth] = 0;
        r->open[r->depth++] = index;
    }
    return true;
}

/* What stands behind a value: a comma, or the ends of what holds it. */
static bool read_ends(reader *r, bool *more)
{
    *more = false;
    for (skip_blanks(r); r->depth; skip_blanks(r)) {
        const smp_json_node *open = &r->tree->nodes[r->open[r->depth - 1]];
        if (*r->at == (open->type == '{' ? '}' : ']')) {
            r->depth--;
            r->at++;
            continue;
        }
        *more = true;
        if (!r->last[r->depth - 1]) /* the first */
            return true;
        if (*r->at++ != ',')
            return wrong(r, "a ',' is missing");
        skip_blanks(r);
        return true;
    }
    return !*r->at || wrong(r, "something follows behind its end");
}

smp_code smp_json_read(char *text, smp_json_tree *out, smp_error *err)
{
    reader r = {.text = text, .at = text, .tree = out, .err = err};
    bool more = true;
    *out = (smp_json_tree){.count = 0};
    err->code = SMP_OK;
    skip_blanks(&r);
    while (more)
        if (!read_value(&r) || !read_ends(&r, &more)) {
            smp_json_tree_free(out);
            return err->code;
        }
    return SMP_OK;
}

void smp_json_tree_free(smp_json_tree *tree)
{
    smp_free(tree->nodes);
    *tree = (smp_json_tree){.count = 0};
}

const smp_json_node *smp_json_first(const smp_json_tree *tree, const smp_json_node *node)
{
    return node && node->child ? &tree->nodes[node->child] : NULL;
}

const smp_json_node *smp_json_next(const smp_json_tree *tree, const smp_json_node *node)
{
    return node->next ? &tree->nodes[node->next] : NULL;
}

const smp_json_node *smp_json_member(const smp_json_tree *tree, const smp_json_node *node, const char *key)
{
    const smp_json_node *found = NULL;
    for (const smp_json_node *at = smp_json_first(tree, node); at; at = smp_json_next(tree, at))
        if (at->key && !strcmp(at->key, key))
            found = at;
    return found;
}

const char *smp_json_text(const smp_json_tree *tree, const smp_json_node *node, const char *key)
{
    const smp_json_node *member = smp_json_member(tree, node, key);
    return member && member->type == '"' ? member->text : "";
}

double smp_json_value(const smp_json_tree *tree, const smp_json_node *node, const char *key)
{
    const smp_json_node *member = smp_json_member(tree, node, key);
    return member && member->type == '0' ? member->number : 0;
}
