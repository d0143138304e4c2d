/* `smempipe help banks` and `smempipe bank --explain`: the rules of shared-memory banks, and whose they are. */
#include "cli/topics.h"
#include "commands/lab/bank.h"
#include "report/text.h"

static const char about_banks[] =
    "Shared memory is split into banks that work side by side: successive words lie in successive banks. A warp's "
    "instruction is served in wavefronts, in each of which a bank delivers one word, to every lane that wants it. "
    "Lanes that want the same word are served together (broadcast, multicast); lanes that want different words of one "
    "bank take turns. Each turn beyond the least that the access needs is a bank conflict, and 'n-way' is wavefronts "
    "divided by that least.";

static const char rules_cc5[] =
    "5.x and newer: 32 banks of 4 bytes, bank = address / 4 % 32.\n"
    "Accesses of 1, 2 and 4 bytes: the whole warp at once. 8 bytes: half-warps, one after the other; 16 bytes: "
    "quarter-warps. Such a phase moves at most 128 bytes: a 16-byte access with stride 1 takes 4 wavefronts, and that "
    "is not a conflict.\n"
    "Loads of 8 and 16 bytes whose lanes agree in pairs (lane n with n^1, or with n^2) take half as many phases.\n"
    "Wavefronts of a phase: the most different words that its lanes want of one bank.\n"
    "atomicAdd(p, 1) whose result is unused counts as a store. Any other integer atomic takes as many wavefronts as it "
    "has lanes on one bank, equal addresses too; a float's is a compare-and-swap loop, and takes twice as many.\n"
    "ldmatrix and stmatrix: eight lanes are a phase, each with a row of 16 bytes; wavefronts of a phase: the most "
    "different rows in one group of four banks (measured: 416 patterns).\n"
    "In time, for dependent loads on an H100: 20 cycles up to 3 wavefronts, 33 at 8, 48 at 16, 80 at 32.\n"
    "Source: measured on an H100 (9.0), 576 patterns, every one as told; other devices by the CUDA C++ Programming "
    "Guide, which describes 5.x and newer alike. Accesses of 2 bytes follow the guide.\n";

static const char rules_cc3[] =
    "3.x: 32 banks that deliver 8 bytes, the whole warp at once.\n"
    "4-byte mode (--cc 3.0): bank = address / 4 % 32; words i and i+32 of one 256-byte segment are served together.\n"
    "8-byte mode (--cc 3.0/8): bank = address / 8 % 32; the two halves of an 8-byte word are served together.\n"
    "So a stride of 2 words is free in both modes, of 3 words in the 4-byte mode alone, of 6 words in the 8-byte mode "
    "alone.\n"
    "Source: CUDA C Programming Guide 4.2, F.5.3. It says nothing of accesses of 16 bytes; half-warps are our "
    "reading.\n";

static const char rules_cc2[] =
    "2.x: 32 banks of 4 bytes, the whole warp at once; several words can be broadcast in one wavefront.\n"
    "8 bytes a lane: half-warps, free for a stride of 1.\n"
    "16 bytes a lane: quarter-warps, each with one wavefront more than its lanes need: most such accesses are 2-way.\n"
    "Source: CUDA C Programming Guide 4.2, F.4.3.\n";

static const char rules_cc1[] =
    "1.x: 16 banks of 4 bytes, half a warp at a time: lanes 0-15, then 16-31.\n"
    "In each step one word is broadcast to all lanes that read it, and every other bank serves one lane. Which word "
    "that is the hardware decides; the best choice is counted. So bytes with stride 1 are 4-way.\n"
    "8 and 16 bytes a lane are two and four requests of 4 bytes: doubles with stride 1 are 2-way.\n"
    "Of lanes that write one place one writes.\n"
    "Source: CUDA C Programming Guide 4.2, F.3.3.\n";

void smp_bank_explain(FILE *to, smp_bank_rules rules)
{
    static const char *const texts[] = {[SMP_BANKS_CC1] = rules_cc1,
                                        [SMP_BANKS_CC2] = rules_cc2,
                                        [SMP_BANKS_CC3] = rules_cc3,
                                        [SMP_BANKS_CC3_8] = rules_cc3,
                                        [SMP_BANKS_CC5] = rules_cc5};
    smp_text_wrap(to, about_banks, 0, 0);
    fputc('\n', to);
    smp_text_wrap(to, texts[rules], 0, 2);
}

void smp_topic_banks(FILE *to)
{
    smp_text_wrap(to, about_banks, 0, 0);
    static const char *const rules[] = {rules_cc5, rules_cc3, rules_cc2, rules_cc1};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        fputc('\n', to);
        smp_text_wrap(to, rules[i], 0, 2);
    }
    fputs("\nPatterns (smempipe bank PATTERN): which element lane tid accesses\n"
          "  tid*2 + 1                    an index, in elements of --width bytes\n"
          "  float4 tid ^ 5               with the type of the elements: char, half, int, float2, double, ...\n"
          "  [32][33] column              a walk through an array: row, column, diagonal, antidiagonal\n"
          "  [16][16] column 3            the same from column 3 on; where a column ends the next goes on\n"
          "  float s[32][33]; s[tid][0]   an array and its indices, as in a kernel; extern __shared__ float s[]\n"
          "  float4 s[32]; s[tid].x       a member; struct { float x, y; } s[32]; s[tid].y\n"
          "  float3 tid                   what no one instruction moves is a row for each access\n"
          "  Names: tid (lane), threadIdx.x, .y and .z (tx, ty, tz; --block 16x16 gives the block's shape),\n"
          "  blockDim.x, .y and .z, warpSize, and those of -D: with -D stride=1,2,4,8 the pattern tid*stride is\n"
          "  four rows. Operators and precedence are C's:\n"
          "  ?: || && | ^ & == != < <= > >= << >> + - * / % and - ~ !\n"
          "  Functions: min(a,b), max(a,b), abs(a), brev(a,bits): the low bits in reversed order, random(n) and\n"
          "  random(n,seed): numbers below n, the same on every machine.\n"
          "  --mask takes a number (bit n is lane n) or a condition: --mask 'tid < 16'.\n"
          "\n"
          "--op ldmatrix, stmatrix (.x4; _x2 and _x1 the smaller ones): the element at which the row of 16\n"
          "  bytes begins that each lane names. Eight lanes are a phase.\n"
          "--op cp_async: the place in shared memory that each lane copies to, 4, 8 or 16 bytes (.cg where\n"
          "  there are 16; cp_async_ca: .ca), and with --from the element of global memory that it copies;\n"
          "  without it, lanes copy side by side.\n"
          "\n"
          "What is proposed\n"
          "  stride   another distance between lanes, where it is constant\n"
          "  pad      the fewest unused elements after each row ([32][33]), or after each so many (i + i/32)\n"
          "  swizzle  element [r][c] kept at [r][c ^ r]: a permutation inside the row, which takes no memory\n"
          "  struct   words added to a struct, until an odd number of them lies between neighbours\n"
          "  The smallest that works is shown, after the model was run on it.\n"
          "\n"
          "Keys of --json (of several patterns: an array of such objects)\n"
          "  pattern, op, width, compute_capability, source, banks, bank_bytes, active_mask\n"
          "  member (of an element with several accesses), defines ({stride: 2}, with -D)\n"
          "  offsets            32 byte addresses, null for a lane that takes no part\n"
          "  wavefronts, ideal, conflicts, n_way (wavefronts / ideal), phases\n"
          "  least_wavefronts   what no layout can go below (atomics on one address)\n"
          "  shared_banks       [{phase, bank, turns, lanes, words}]: each bank that serves more than one turn\n"
          "  map                [{phase, conflict, cells: [{bank, lanes, byte}]}]: a wavefront each\n"
          "  suggestions        [{kind, wavefronts, ideal, conflicts, n_way, ...}], empty when nothing helps\n"
          "                     kind stride: stride (elements between lanes)\n"
          "                     kind pad: pad (elements), with array, or with every: after each so many\n"
          "                     kind swizzle: index, an expression; kind struct: size (bytes)\n",
          to);
}
