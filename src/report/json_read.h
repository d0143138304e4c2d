/* Reads JSON (RFC 8259) that a former run wrote into nodes of one array, without recursion. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct smp_json_node {
    char type;        /* '{', '[', '"', '0' a number, 't' and 'f' and 'n' */
    const char *key;  /* of an object's member; else null */
    const char *text; /* of a string */
    double number;
    uint32_t child, next; /* nodes by their numbers; 0: none */
} smp_json_node;

typedef struct smp_json_tree {
    smp_json_node *nodes; /* the first is the whole */
    size_t count, capacity;
} smp_json_tree;

/* text: from smp_read_file, with its end; strings are decoded in it, so that it must outlive the tree and is changed.
 * What is not JSON is SMP_E_DECODE, with its line. */
smp_code smp_json_read(char *text, smp_json_tree *out, smp_error *err);
void smp_json_tree_free(smp_json_tree *tree);

/* An object's member; null: there is none, or node is null or no object. The last of several of one name counts. */
const smp_json_node *smp_json_member(const smp_json_tree *tree, const smp_json_node *node, const char *key);
/* The first node of an array or object, and the one behind another; null: none. */
const smp_json_node *smp_json_first(const smp_json_tree *tree, const smp_json_node *node);
const smp_json_node *smp_json_next(const smp_json_tree *tree, const smp_json_node *node);

/* A member's string ("" where there is none) or number (0). */
const char *smp_json_text(const smp_json_tree *tree, const smp_json_node *node, const char *key);
double smp_json_value(const smp_json_tree *tree, const smp_json_node *node, const char *key);
