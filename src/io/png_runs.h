/* Deflate for filtered rows of pictures: Huffman codes for bytes, and matches for runs of zeros alone. What else deflate could
 * match is rare in photographs, and looking for it takes several times as long as the codes do (as fpng and fpnge do
 * it: no matches but runs). RFC 1951 has the format. */
#ifndef SMP_IO_PNG_RUNS_H
#define SMP_IO_PNG_RUNS_H

#include <stddef.h>
#include <stdint.h>

/* About how many bytes the data would take; for samples of it. */
size_t smp_png_runs_cost(const uint8_t *from, size_t size);

/* Deflates size bytes into to, ending on a byte boundary, without a last block; 0 when they do not fit into room. */
size_t smp_png_runs_pack(uint8_t *to, size_t room, const uint8_t *from, size_t size);

#endif
