/* Conversions that compilers write most, lane by lane; convert.c does the others. */
#include <math.h>

#include "lab/ptx/half.h"
#include "lab/ptx/lanes.h"

typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define W(name, e) WARP_LANES_OF(name, u32, u32, u32, u32, e)
#define SH(x)      ((s32)(int16_t)(uint16_t)(x))

#define TO_S32(x) ((x) != (x) ? 0 : (x) >= 2147483648.0f ? INT32_MAX : (x) <= -2147483648.0f ? INT32_MIN : (s32)(x))

#define LANE(kind, names, operands, ...)     kind(WARP_LANE, __VA_ARGS__)
#define OF(D, A, B, C, names, operands, ...) WARP_LANES_OF(WARP_LANE, D, A, B, C, __VA_ARGS__)
#include "lab/ptx/lanes_convert.def"
#undef LANE
#undef OF

#define LANE(kind, names, operands, ...)     {names, operands, WARP_LANE},
#define OF(D, A, B, C, names, operands, ...) {names, operands, WARP_LANE},
const warp_lane_row WARP_ROWS(convert)[] = {
#include "lab/ptx/lanes_convert.def"
    {NULL, NULL, NULL},
};
