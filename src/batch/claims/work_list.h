/* A list of work: which files there were when it was made, with their sizes and times, in pieces. Everybody who works
 * on a list means the same files, whatever comes and goes in the folder meanwhile; a task reads the lines of its own
 * pieces alone.
 *
 * A text: "smempipe list 2", the folder that the names lie in, a line "SIZE MTIME NAME" a file (nanoseconds since 1970;
 * in names backslashes stand before backslashes and, as n, ends of lines), a line of fixed length a piece, and a last
 * line of fixed length that says where those begin. In front of the size may stand an l: the file is a symbolic link;
 * and =OFFSET and a space: the line that begins there is that of a file before it which has its name but for the
 * extension, and may so become the same output. */
#pragma once

#include "base/hash/hash.h"
#include "base/text/texts.h"
#include "batch/find_files.h"

/* Limits of a piece: the next one begins after so many bytes of files, or so many files. Unless sizes are chosen,
 * pieces shrink to a few files towards the end of the list: who takes them one by one in their order ends when others
 * do (guided self-scheduling; Polychronopoulos and Kuck, 1987), and who has large ones first keeps few records. */
#define SMP_PIECE_BYTES (UINT64_C(64) << 20)
enum { SMP_PIECE_FILES = 4096, SMP_PIECE_MOST_FILES = 1 << 20 };

/* ------------------------------------------------------------------------------------------------ writing */

typedef struct smp_list_writer smp_list_writer;

typedef struct smp_list_sum {
    uint64_t files, bytes, pieces, links;
    uint64_t collisions; /* files that have the name of another before them, but for the extension */
} smp_list_sum;

/* path "-" is standard output; else the list appears whole or not at all. root: the folder of the names. Bytes and
 * files of a piece: 0 where only the other one is chosen; both 0: pieces shrink. */
smp_code smp_list_begin(const char *path, bool force, const char *root, uint64_t piece_bytes, uint64_t piece_files,
                        smp_list_writer **out, smp_error *err);
void smp_list_scattered(smp_list_writer *writer); /* names of one folder may not follow each other */
smp_code smp_list_add(smp_list_writer *writer, const smp_found *found, smp_error *err); /* its name, size and time */
smp_code smp_list_end(smp_list_writer *writer, smp_list_sum *sum, smp_error *err);      /* frees it */
void smp_list_abort(smp_list_writer *writer);                                           /* null is allowed */

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct smp_work_list smp_work_list;

typedef struct smp_work_piece {
    uint64_t offset, length; /* of its lines */
    uint64_t files, bytes;   /* of files */
    uint64_t hash;           /* of its lines */
} smp_work_piece;

/* Reads what lists begin and end with; *out is null on failure. What is no list, was cut off or edited is SMP_E_READ.
 */
smp_code smp_work_list_open(const char *path, smp_work_list **out, smp_error *err);
void smp_work_list_close(smp_work_list *list); /* null is allowed */

size_t smp_work_list_pieces(const smp_work_list *list);
const smp_work_piece *smp_work_list_piece(const smp_work_list *list, size_t piece);
const smp_hash *smp_work_list_hash(const smp_work_list *list); /* of everything in it */
const char *smp_work_list_root(const smp_work_list *list);
bool smp_work_list_links(const smp_work_list *list); /* some files are symbolic links */

/* Assigns pieces to `shards` so that all have about as much to do. An array of 1..shards from smp_alloc, the same on
 * every machine. */
smp_code smp_work_list_shares(const smp_work_list *list, int64_t shards, uint32_t **owners, smp_error *err);

/* The pieces of one who shares a list by owners: a shard, or a rank, to which they are dealt one after the other. */
typedef struct smp_list_share {
    size_t pieces;                              /* of the list */
    bool (*deal)(size_t pieces, size_t *piece); /* the next one of the rank; null: owners say */
    const uint32_t *owners;                     /* of the pieces, from smp_alloc; null: all are one's own */
    uint32_t shard;
    size_t next; /* pieces before it were handed out, or are not one's own */
} smp_list_share;

/* shards 0: all pieces. */
smp_code smp_list_share_open(const smp_work_list *list, int64_t shard, int64_t shards, smp_list_share *share,
                             smp_error *err);
bool smp_list_share_has(const smp_list_share *share, size_t piece);
bool smp_list_share_next(smp_list_share *share, size_t *piece); /* false: there is none */
void smp_list_share_close(smp_list_share *share);

/* The files of a piece, in an array from smp_alloc whose texts go to `texts`. */
smp_code smp_work_list_read(const smp_work_list *list, size_t piece, smp_texts *texts, smp_found **found, size_t *count,
                            smp_error *err);

/* The file whose line begins there: a smp_found.collision. */
smp_code smp_work_list_read_line(const smp_work_list *list, uint64_t line, smp_texts *texts, smp_found *found,
                                 smp_error *err);
