/* The JSON of `smempipe bank`. */
#include <string.h>

#include "commands/lab/bank_text.h"
#include "lab/report/bank_map.h"
#include "report/json.h"

static void numbers_of_lanes(smp_json *json, const char *key, uint32_t lanes)
{
    double list[SMP_WARP];
    size_t count = 0;
    for (int lane = 0; lane < SMP_WARP; lane++)
        if (lanes >> lane & 1)
            list[count++] = lane;
    smp_json_numbers(json, key, list, count);
}

static void cost_json(smp_json *json, smp_bank_cost cost)
{
    SMP_JSON(json, ("wavefronts", cost.wavefronts), ("ideal", cost.ideal), ("conflicts", cost.conflicts),
             ("n_way", smp_bank_ways(cost)));
}

static void shared_json(smp_json *json, const smp_bank_study *study)
{
    smp_bank_sharing one;
    smp_json_array(json, "shared_banks");
    for (int phase = 0; phase < study->schedule.phases; phase++)
        for (int bank = 0; bank < SMP_BANKS; bank++) {
            uint32_t words[SMP_WARP];
            double list[SMP_WARP];
            if (!smp_bank_sharing_of(study, phase, bank, &one))
                continue;
            int count = smp_bank_words_of(study, &one, words);
            for (int i = 0; i < count; i++)
                list[i] = words[i];
            SMP_JSON_OPEN(json, NULL, ("phase", phase + 1), ("bank", bank), ("turns", one.turns));
            numbers_of_lanes(json, "lanes", one.all);
            smp_json_numbers(json, "words", list, (size_t)count);
            smp_json_end(json, '}');
        }
    smp_json_end(json, ']');
}

static void map_json(smp_json *json, const smp_bank_study *study)
{
    smp_json_array(json, "map");
    for (int i = 0; i < study->schedule.count; i++) {
        const smp_bank_wavefront *wavefront = &study->schedule.wavefronts[i];
        SMP_JSON_OPEN(json, NULL, ("phase", wavefront->phase + 1), ("conflict", (bool)(wavefront->turn > 0)));
        smp_json_array(json, "cells");
        for (uint32_t bank = 0; bank < SMP_BANKS; bank++) {
            const smp_bank_cell *cell = &wavefront->cells[bank];
            if (!cell->lanes)
                continue;
            smp_json_object(json, NULL);
            smp_json_integer(json, "bank", bank);
            numbers_of_lanes(json, "lanes", cell->lanes);
            smp_json_integer(json, "byte", (int64_t)cell->row * SMP_BANK_ROW + bank * SMP_BANK_BYTES);
            smp_json_end(json, '}');
        }
        smp_json_end(json, ']');
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

static void suggestions_json(smp_json *json, const smp_bank_study *study)
{
    const smp_advice *advice = &study->advice;
    const smp_elements *e = &study->elements;
    char text[200], what[128];
    smp_json_array(json, "suggestions");
    if (study->pattern && study->pattern->random) {
        smp_json_end(json, ']');
        return;
    }
    if (advice->better_stride) {
        SMP_JSON_OPEN(json, NULL, ("kind", "stride"), ("stride", advice->better_stride));
        cost_json(json, advice->stride_cost);
        smp_json_end(json, '}');
    }
    if (advice->pad.pad) {
        SMP_JSON_OPEN(json, NULL, ("kind", "pad"), ("pad", advice->pad.pad));
        if (e->dims > 1) {
            smp_bank_array_text(text, sizeof text, study, advice->pad.pad);
            smp_json_string(json, "array", text);
        } else
            smp_json_integer(json, "every", advice->pad.period);
        cost_json(json, advice->pad_cost);
        smp_json_end(json, '}');
    }
    if (advice->better_size) {
        SMP_JSON_OPEN(json, NULL, ("kind", "struct"), ("size", advice->better_size));
        cost_json(json, advice->size_cost);
        smp_json_end(json, '}');
    }
    if (advice->swizzle.mask) {
        smp_bank_swizzle_text(what, sizeof what, study, &advice->swizzle);
        snprintf(text, sizeof text, e->dims > 1 ? "[r][c ^ %s]" : "i ^ %s", what);
        SMP_JSON_OPEN(json, NULL, ("kind", "swizzle"), ("index", text));
        cost_json(json, advice->swizzle_cost);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

/* Returns the source of the numbers. */
static const char *source_text(const smp_bank_study *study)
{
    return strcmp(study->capability, "9.0")
               ? "the rules measured on 9.0, which the CUDA C++ Programming Guide gives all devices from 5.x on"
               : "measured on an H100 (9.0)";
}

static void study_json(smp_json *json, const smp_bank_study *study)
{
    char mask[16];
    snprintf(mask, sizeof mask, "0x%08x", study->access.active);
    smp_json_object(json, NULL);
    smp_json_string(json, "pattern", study->text);
    if (study->part && study->part->name[0])
        smp_json_string(json, "member", study->part->name);
    if (study->define_count)
        smp_json_object(json, "defines");
    for (size_t i = 0; i < study->define_count; i++)
        smp_json_integer(json, study->defines[i].name, study->defines[i].value);
    if (study->define_count)
        smp_json_end(json, '}');
    SMP_JSON(json, ("op", study->op), ("width", study->access.width), ("compute_capability", study->capability),
             ("source", source_text(study)), ("banks", (int)SMP_BANKS), ("bank_bytes", (int)SMP_BANK_BYTES),
             ("active_mask", mask));
    smp_bank_offsets_json(json, "offsets", &study->access);
    cost_json(json, study->schedule.cost);
    SMP_JSON(json, ("phases", study->schedule.phases), ("least_wavefronts", study->advice.least));
    shared_json(json, study);
    map_json(json, study);
    suggestions_json(json, study);
    smp_json_end(json, '}');
}

void smp_bank_studies_json(FILE *to, const smp_bank_study *studies, size_t count, bool many)
{
    smp_json json;
    smp_json_begin(&json, to, false);
    if (many)
        smp_json_array(&json, NULL);
    for (size_t i = 0; i < count; i++)
        study_json(&json, &studies[i]);
    if (many)
        smp_json_end(&json, ']');
}
