/* Shared by the JPEG reader and writer: libjpeg's errors as ours, its memory counted and limited. */
#pragma once

#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs it */

#include <jpeglib.h>

#include "io/format.h"

/* Begins an APP1 marker with an XMP packet, including its zero byte (XMP Specification, part 3, 1.1.3). */
#define SMP_JPEG_XMP "http://ns.adobe.com/xap/1.0/"
#define SMP_JPEG_IRB "Photoshop 3.0" /* image resources, with its end */
enum { SMP_JPEG_IPTC = 0x0404 };     /* one of them */

typedef struct smp_jpeg_block smp_jpeg_block;
typedef struct smp_jpeg_markers smp_jpeg_markers;

/* A memory manager for libjpeg: cinfo->mem points at its first member. */
typedef struct smp_jpeg_memory {
    struct jpeg_memory_mgr manager;
    struct jpeg_memory_mgr *original; /* owns what was allocated before ours was installed */
    smp_jpeg_block *blocks[JPOOL_NUMPOOLS];
    jvirt_sarray_ptr sample_arrays;
    jvirt_barray_ptr block_arrays;
    uint64_t live, cap; /* bytes that libjpeg holds, and may hold */
    uint64_t refused;   /* bytes of the first allocation that failed or exceeded the cap; 0: none */
    bool over_cap;
} smp_jpeg_memory;

/* A file that is read though it is cut short: it seems to end as a JPEG does, and what libjpeg says of that is kept
 * here instead of refused. */
typedef struct smp_jpeg_cut {
    bool reached, lacking; /* the file's end; and samples were missing then, */
    int scan;              /* of this scan, 1 first, */
    int64_t row;           /* from this row of blocks on */
} smp_jpeg_cut;

typedef struct smp_jpeg {
    struct jpeg_error_mgr errors; /* cinfo->err points at it: must be first */
    jmp_buf jump;
    smp_jpeg_memory memory;
    smp_jpeg_markers *markers; /* reading: see jpeg_markers.h */
    smp_notes *notes;          /* of the reader; null while writing */
    smp_error *err;            /* of the call in progress */
    smp_code code;
    smp_code fault; /* the code for libjpeg's messages: SMP_E_DECODE or SMP_E_WRITE */
    bool piped;     /* it is read from what cannot seek */
    smp_jpeg_cut cut;
} smp_jpeg;

/* Fills in the error manager, for cinfo.err. */
struct jpeg_error_mgr *smp_jpeg_errors(smp_jpeg *state, smp_code fault);

/* Replaces libjpeg's memory manager, right after jpeg_create_*. cap: bytes. */
void smp_jpeg_adopt_memory(smp_jpeg *state, j_common_ptr cinfo, uint64_t cap);

/* Like smp_png_guard: runs body(context), in which libjpeg may fail anywhere. */
smp_code smp_jpeg_guard(smp_jpeg *state, void (*body)(void *context), void *context, smp_error *err);

/* Keeps where samples are missing, the first time. */
void smp_jpeg_lacks(smp_jpeg *state, j_decompress_ptr jpeg);

/* Inside a guard: stops with an error that is already filled in. */
_Noreturn void smp_jpeg_stop(smp_jpeg *state, smp_code code);

/* The same where there is no memory. */
static inline void smp_jpeg_need(smp_jpeg *state, bool done, const char *what, uint64_t size)
{
    if (!done)
        smp_jpeg_stop(state, smp_fail_memory(state->err, what, size));
}

/* Puts all of the file but APP markers (RGB and CMYK keep Adobe's, and CMYK its profile), COM markers, and what comes
 * before and after the picture, into media.coded, from the first marker to EOI. Leaves it empty where the file is not
 * plain: it must be decoded then. In jpeg_coded.c. */
smp_code smp_jpeg_keep_coded(smp_reader *reader, J_COLOR_SPACE space, smp_error *err);

/* Whether it is coded as RGB, which a JFIF cannot be, or as CMYK: Adobe's marker says it. */
bool smp_jpeg_is_adobe(const smp_blob *coded);

/* The scan that begins `at` in the source, after the header was read: *rows, of shape as->shape, from smp_alloc. Null:
 * it is not plain, or there is no memory for it. *followed: as smp_jpeg_follower. In jpeg_scan.c. */
void smp_jpeg_read_scan(const struct jpeg_decompress_struct *jpeg, const smp_source *source, uint64_t at,
                        const smp_limits *limits, smp_scan *as, uint8_t **rows, const char **followed);

/* Keeps how the picture is coded, after its header was read; and says how one is to be coded, after jpeg_set_defaults:
 * so as the input was, unless a quality is asked for (then its scans alone). In jpeg_coding.c. */
void smp_jpeg_keep_coding(const struct jpeg_decompress_struct *jpeg, smp_jpeg_coding *coding);
void smp_jpeg_keep_codes(const struct jpeg_decompress_struct *jpeg, smp_jpeg_coding *coding); /* in jpeg_codes.c */
void smp_jpeg_put_codes(struct jpeg_compress_struct *jpeg, const smp_jpeg_coding *coding);    /* the same */
/* The resolution of colour. Auto: the input's, where its coding is used again, else full from quality 90 on. */
typedef enum smp_jpeg_sampling { SMP_JPEG_AUTO, SMP_JPEG_444, SMP_JPEG_422, SMP_JPEG_420 } smp_jpeg_sampling;

/* Whether a JPEG appears coarse at first. Kept: as the input, if that was a JPEG. */
typedef enum smp_jpeg_scans { SMP_JPEG_KEPT, SMP_JPEG_PROGRESSIVE, SMP_JPEG_BASELINE } smp_jpeg_scans;

/* Options of JPEGs that are written; of the latter two the values are above. */
extern const smp_write_option smp_jpeg_quality, smp_jpeg_subsampling, smp_jpeg_progressive;

bool smp_jpeg_wants_progressive(const smp_write_options *options, const smp_jpeg_coding *coding);
void smp_jpeg_set_coding(struct jpeg_compress_struct *jpeg, const smp_write_options *options,
                         const smp_jpeg_coding *coding);

/* In jpeg_read.c and jpeg_write.c; jpeg.c puts them into the table. */
bool smp_jpeg_sniff(const uint8_t *head, size_t size);
/* What is told of a file that goes on with these bytes behind its picture; null: nothing is known. */
enum { SMP_JPEG_FOLLOWER = SMP_BEHIND /* bytes, at most */ };
const char *smp_jpeg_follower(const uint8_t *head, size_t size);
void smp_jpeg_note_next(smp_reader *reader, const char *followed); /* unless the file is an MPO, which is told */
SMP_DECLARE_READER(smp_jpeg, rows);
smp_code smp_jpeg_read_end(smp_reader *reader, smp_error *err);
SMP_DECLARE_WRITER(smp_jpeg, rows);

/* The markers of a JPEG that describe its picture: ICC profile, EXIF, XMP, comments, the index of an MPO. They are kept
 * in their order, up to a count and a number of bytes. libjpeg's own list is not used: it is walked to its end for
 * every marker. */

enum { SMP_JPEG_MAX_MARKERS = 1000, SMP_JPEG_ICC_PARTS = 256 /* numbered from 1 */ };

struct smp_jpeg_markers {
    smp_meta *meta;        /* gets EXIF, XMP and comments */
    bool closed;           /* the picture has begun: markers are counted and skipped */
    bool xmp;              /* a packet is kept */
    unsigned count;        /* comments and application markers */
    uint64_t bytes;        /* of all that is kept */
    unsigned icc_count;    /* parts of the profile; 0: none seen */
    const char *icc_fault; /* why the profile is unusable; null: no fault */
    smp_blob icc[SMP_JPEG_ICC_PARTS];
    uint32_t pictures; /* of an MPO; 0: it is not one */
    smp_names left;    /* what other programs put into it */
    uint8_t *data;     /* the current marker */
};

/* Call right after jpeg_create_decompress. base->markers points at zeroed markers with `meta` set. */
void smp_jpeg_watch_markers(struct jpeg_decompress_struct *jpeg);

/* Inside a guard: joins the parts of the ICC profile. An incomplete profile is left out, with a note. */
void smp_jpeg_keep_icc(smp_jpeg *base, smp_blob *icc);

/* Bytes of a source that can seek, a block at a time. */
typedef struct smp_jpeg_walk {
    const smp_source *source;
    uint64_t at; /* of the first byte in the block */
    size_t size;
    uint8_t bytes[1 << 15];
} smp_jpeg_walk;

/* The position behind the next marker from `position` on; restarts, and bytes that no marker announces, are passed
 * over. In jpeg_scans.c. */
bool smp_jpeg_next_marker(smp_jpeg_walk *w, uint64_t *position, uint8_t *marker);

void smp_jpeg_free_markers(smp_jpeg_markers *markers);

/* The key of a comment: "Title: One", a word, a colon and a blank, is how jpeg_write.c writes a text of the key Title;
 * else "Comment". Returns where what it says begins. */
size_t smp_jpeg_comment_key(const char *text, size_t size, char key[SMP_TAG_KEY]);
