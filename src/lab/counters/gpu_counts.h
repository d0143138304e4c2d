/* The file by which libsmp_gpucounts reports to `smempipe kernel --device cuda`: the library writes a file of lines
 * with tabs between their parts, and either the last line or an error is at its end. */
#pragma once

#define SMP_GPU_COUNTS "SMEMPIPE_GPU_COUNTS" /* names the file */
#define SMP_GPU_GRAPHS "SMEMPIPE_GPU_GRAPHS" /* "off": nothing is counted while graphs are made and run */

/* kernel, place of the instruction in bytes, executions, wavefronts, ideal ones, sectors, ideal ones */
#define SMP_GPU_ROW   "row"
#define SMP_GPU_GRAPH "graph" /* a kernel that is in graphs, or that ran while nothing was counted because of them */
#define SMP_GPU_ERROR "error" /* message, hint */
#define SMP_GPU_END   "end"
