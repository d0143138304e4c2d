/* Parses --raw, which describes an input without a header: "u8x3:1920x1080", "s16lex2:48000". */
#pragma once

#include "base/error.h"
#include "io/read_options.h"

/* TYPExC:WxH[@OFFSET] for pictures of the types u8, u16le, u16be and f32le; TYPExC:RATE[@OFFSET] for sounds of u8,
 * s16le, s24le, s32le, f32le, f64le, alaw and mulaw. These two are `real` with one byte; mu-law is `big`. SMP_E_USAGE
 * with what to type. */
smp_code smp_raw_parse(const char *text, smp_raw *raw, smp_error *err);
