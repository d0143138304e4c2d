/* Draws maps of banks: see bank_map.h. */
#include "lab/report/bank_map.h"

#include <math.h>

#include "lab/report/bank_words.h"
#include "report/text.h"

char *smp_bank_lanes_text(char *text, size_t size, uint32_t lanes, const char *separator)
{
    size_t used = 0;
    text[0] = '\0';
    for (int lane = 0; lane < SMP_WARP; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        int last = lane;
        while (last + 1 < SMP_WARP && lanes >> (last + 1) & 1)
            last++;
        if (last == lane + 1) /* two neighbours are easier to read apart */
            last = lane;
        int n = used < size ? snprintf(text + used, size - used, "%s%d", used ? separator : "", lane) : 0;
        used += (size_t)n;
        if (last > lane && used < size) {
            n = snprintf(text + used, size - used, "-%d", last);
            used += (size_t)n;
        }
        lane = last;
    }
    return text;
}

static int first_lane(uint32_t lanes)
{
    return __builtin_ctz(lanes);
}

static bool several(uint32_t lanes)
{
    return (lanes & (lanes - 1)) != 0;
}

/* "phase 2 of 4: lanes 8-15" */
static void phase_text(char *text, size_t size, const smp_bank_schedule *schedule, int phase)
{
    char lanes[120];
    smp_bank_lanes_text(lanes, sizeof lanes, schedule->phase_lanes[phase], " ");
    snprintf(text, size, "phase %d of %d: lanes %s", phase + 1, schedule->phases, lanes);
}

enum { LABEL = 4 }; /* columns; 4 + 32 x 3 = 100 */

static void put_line(FILE *to, int number, const smp_bank_wavefront *wavefront, const smp_paint *paint)
{
    fprintf(to, "%*d:", LABEL - 1, number);
    for (int bank = 0; bank < SMP_BANKS; bank++) {
        uint32_t lanes = wavefront->cells[bank].lanes;
        const char *end = bank + 1 < SMP_BANKS ? " " : "";
        if (lanes)
            fprintf(to, "%s%2d%s%s", wavefront->turn ? paint->red : paint->green, first_lane(lanes),
                    several(lanes) ? "+" : end, paint->off);
        else
            fprintf(to, "%s .%s%s", paint->dim, end, paint->off);
    }
    fputc('\n', to);
}

void smp_bank_map_text(FILE *to, const smp_bank_access *access, bool color)
{
    smp_bank_schedule schedule;
    smp_paint paint = smp_paint_for(color);
    int phase = -1;
    smp_bank_schedule_of(access, &schedule);
    fprintf(to, "%sbank", paint.bold);
    for (int bank = 0; bank < SMP_BANKS; bank++)
        fprintf(to, "%2d%s", bank, bank + 1 < SMP_BANKS ? " " : "");
    fprintf(to, "%s\n", paint.off);
    for (int i = 0; i < schedule.count; i++) {
        const smp_bank_wavefront *wavefront = &schedule.wavefronts[i];
        if (schedule.phases > 1 && wavefront->phase != phase) {
            char text[200];
            phase = wavefront->phase;
            phase_text(text, sizeof text, &schedule, phase);
            fprintf(to, "%s%s%s\n", paint.dim, text, paint.off);
        }
        put_line(to, i + 1, wavefront, &paint);
    }
}

enum { TITLE_TENTHS = 82, SUBTITLE_TENTHS = 69 }; /* of a pixel: a character at 13 and 11 px, rounded up */
enum { CELL = 18, LINE = 18, LEFT = 44, TITLE = 22, HEAD = 20, PHASE = 18, EDGE = 2 };

static const char style[] = "svg.bank-map{max-width:100%;height:auto;font:11px ui-monospace,Menlo,Consolas,monospace}\n"
                            "svg.bank-map .title{font-size:13px;font-weight:bold}\n"
                            "svg.bank-map .paper{fill:#fff}\n"
                            "svg.bank-map text{fill:#222}\n"
                            "svg.bank-map .label{fill:#666}\n"
                            "svg.bank-map .idle{fill:#f1f1f1}\n"
                            "svg.bank-map .first rect{fill:#b7e1c0;stroke:#2e7d45}\n"
                            "svg.bank-map .later rect{fill:#f6b9b1;stroke:#b3261e}\n"
                            "svg.bank-map .several rect{stroke-width:2}\n"
                            "@media screen and (prefers-color-scheme:dark){\n"
                            "svg.bank-map .paper{fill:#1b1b1b}\n"
                            "svg.bank-map text{fill:#eee}\n"
                            "svg.bank-map .label{fill:#aaa}\n"
                            "svg.bank-map .idle{fill:#2b2b2b}\n"
                            "svg.bank-map .first rect{fill:#1f5c33;stroke:#6fcf8b}\n"
                            "svg.bank-map .later rect{fill:#7a221b;stroke:#ff8a80}}\n";

static void put_cell(FILE *to, const smp_bank_wavefront *wavefront, int number, int bank, int y)
{
    const smp_bank_cell *cell = &wavefront->cells[bank];
    char lanes[120];
    const uint64_t byte = (uint64_t)cell->row * SMP_BANK_ROW + (uint64_t)bank * SMP_BANK_BYTES;
    smp_bank_lanes_text(lanes, sizeof lanes, cell->lanes, " ");
    int x = LEFT + bank * CELL;
    fprintf(to, "<g class=\"%s%s\"><title>wavefront %d, bank %d: lane%s %s, byte %llu</title>",
            wavefront->turn ? "later" : "first", several(cell->lanes) ? " several" : "", number, bank,
            several(cell->lanes) ? "s" : "", lanes, (unsigned long long)byte);
    fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\"/>", x + 1, y + 1, CELL - 2, LINE - 2);
    fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d%s</text></g>\n", x + CELL / 2, y + LINE - 5,
            first_lane(cell->lanes), several(cell->lanes) ? "+" : "");
}

static void put_wavefront(FILE *to, const smp_bank_wavefront *wavefront, int number, int y)
{
    fprintf(to, "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%d</text>", LEFT - 8, y + LINE - 5,
            number);
    for (int bank = 0; bank < SMP_BANKS; bank++)
        fprintf(to, "<rect class=\"idle\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", LEFT + bank * CELL + 1,
                y + 1, CELL - 2, LINE - 2);
    fputc('\n', to);
    for (int bank = 0; bank < SMP_BANKS; bank++)
        if (wavefront->cells[bank].lanes)
            put_cell(to, wavefront, number, bank, y);
}

/* Returns its height. */
static int put_heading(FILE *to, const char *class, const char *text, int columns, int y)
{
    if (!text)
        return 0;
    fprintf(to, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, EDGE, y + TITLE - 8);
    smp_text_xml_column(to, text, (size_t)columns);
    fputs("</text>\n", to);
    return TITLE;
}

void smp_bank_map_svg(FILE *to, const smp_bank_access *access, const char *title, const char *subtitle)
{
    smp_bank_schedule schedule;
    const int width = LEFT + SMP_BANKS * CELL + EDGE;
    smp_bank_schedule_of(access, &schedule);
    const int shown = schedule.count, phases = shown && schedule.phases > 1 ? schedule.phases : 0;
    int height = (title ? TITLE : 0) + (subtitle ? TITLE : 0) + HEAD + shown * LINE + phases * PHASE + EDGE;

    fprintf(to,
            "<svg class=\"bank-map\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\" aria-label=\"",
            width, height, width, height);
    smp_text_xml(to, title ? title : "which lanes each bank serves, wavefront by wavefront");
    if (subtitle) {
        fputs(": ", to);
        smp_text_xml(to, subtitle);
    }
    fprintf(to, "\">\n<style>\n%s</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", style, width, height);
    int y = 0, phase = -1;
    y += put_heading(to, "title", title, width * 10 / TITLE_TENTHS, y);
    y += put_heading(to, "label", subtitle, width * 10 / SUBTITLE_TENTHS, y);
    fprintf(to, "<text class=\"label\" x=\"%d\" y=\"%d\">bank</text>", EDGE, y + HEAD - 6);
    for (int bank = 0; bank < SMP_BANKS; bank++)
        fprintf(to, "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>",
                LEFT + bank * CELL + CELL / 2, y + HEAD - 6, bank);
    fputc('\n', to);
    y += HEAD;
    for (int i = 0; i < shown; i++) {
        if (phases && schedule.wavefronts[i].phase != phase) {
            char text[200];
            phase = schedule.wavefronts[i].phase;
            phase_text(text, sizeof text, &schedule, phase);
            fprintf(to, "<text class=\"label\" x=\"%d\" y=\"%d\">%s</text>\n", EDGE, y + PHASE - 5, text);
            y += PHASE;
        }
        put_wavefront(to, &schedule.wavefronts[i], i + 1, y);
        y += LINE;
    }
    fputs("</svg>\n", to);
}

void smp_bank_offsets_json(smp_json *json, const char *key, const smp_bank_access *access)
{
    double offsets[SMP_WARP];
    for (int lane = 0; lane < SMP_WARP; lane++)
        offsets[lane] = access->active >> lane & 1 ? (double)access->offset[lane] : (double)NAN;
    smp_json_numbers(json, key, offsets, SMP_WARP);
}

static void put_schedule(smp_json *json, const smp_bank_schedule *schedule)
{
    smp_json_array(json, "schedule");
    for (int i = 0; i < schedule->count; i++) {
        double pairs[2 * SMP_BANKS];
        size_t used = 0;
        for (int bank = 0; bank < SMP_BANKS; bank++)
            if (schedule->wavefronts[i].cells[bank].lanes) {
                pairs[used++] = bank;
                pairs[used++] = schedule->wavefronts[i].cells[bank].lanes;
            }
        SMP_JSON_OPEN(json, NULL, ("phase", schedule->wavefronts[i].phase), ("turn", schedule->wavefronts[i].turn));
        smp_json_numbers(json, "bank_lanes", pairs, used);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

void smp_bank_access_json(smp_json *json, const smp_bank_access *access, const char *name)
{
    char text[300];
    smp_bank_schedule schedule;
    if (!access->active)
        return;
    smp_bank_schedule_of(access, &schedule);
    const smp_bank_cost *cost = &schedule.cost;
    SMP_JSON_OPEN(json, "access", ("wavefronts", cost->wavefronts), ("ideal", cost->ideal));
    const bool turns = smp_bank_turns_text(text, sizeof text, access);
    smp_json_string(json, "turns", turns ? text : NULL);
    const bool advice = cost->conflicts && smp_bank_advice_text(text, sizeof text, access, cost->ideal, name);
    SMP_JSON(json, ("advice", advice ? text : NULL), ("pad_share", advice ? smp_bank_pad_share(access) : 0));
    put_schedule(json, &schedule);
    smp_json_end(json, '}');
}
