/* Diagnostics as JSON for editors: one object a line, columns counted in characters from 1, ends exclusive. */
#include <string.h>

#include "base/text/diag.h"
#include "base/text/text.h"

static void put_quoted(smp_text *text, const char *string)
{
    smp_text_put(text, "\"", 1);
    for (const char *at = string, *end = string + strlen(string); at < end;) {
        uint32_t code;
        size_t n = smp_utf8_decode(at, (size_t)(end - at), &code);
        if (code == SMP_UTF8_INVALID)
            smp_text_put(text, "\\ufffd", 6);
        else if (code == '"' || code == '\\')
            smp_text_print(text, "\\%c", (char)code);
        else if (code < 0x20 || smp_utf8_unprintable(code))
            smp_text_print(text, "\\u%04x", (unsigned)code);
        else
            smp_text_put(text, at, n);
        at += n;
    }
    smp_text_put(text, "\"", 1);
}

static void put_member(smp_text *text, const char *key, const char *value)
{
    smp_text_print(text, ", \"%s\": ", key);
    if (value)
        put_quoted(text, value);
    else
        smp_text_put(text, "null", 4);
}

static void put_item(smp_text *text, const smp_diags *diags, const smp_diag *item)
{
    smp_text_put(text, "{\"file\": ", 9);
    if (item->span.source >= 0 && (size_t)item->span.source < diags->source_count) {
        int line, column, end_line, end_column;
        smp_span end = item->span;
        size_t length = diags->sources[end.source].length;
        end.start = end.start > length || end.length > length - end.start ? length : end.start + end.length;
        smp_diags_locate(diags, item->span, &line, &column);
        smp_diags_locate(diags, end, &end_line, &end_column);
        put_quoted(text, diags->sources[item->span.source].name);
        smp_text_print(text, ", \"line\": %d, \"column\": %d, \"end_line\": %d, \"end_column\": %d", line, column,
                       end_line, end_column);
    } else {
        smp_text_print(text, "null, \"line\": null, \"column\": null, \"end_line\": null, \"end_column\": null");
    }
    put_member(text, "severity", item->severity == SMP_ERROR ? "error" : "warning");
    put_member(text, "message", item->message);
    put_member(text, "fix", item->fix);
    put_member(text, "note", item->note);
    if (item->input)
        put_member(text, "input", item->input);
    smp_text_put(text, "}\n", 2);
}

static void put_more(smp_text *text, int more, const char *severity)
{
    if (more > 0)
        smp_text_print(
            text,
            "{\"file\": null, \"line\": null, \"column\": null, \"end_line\": null, \"end_column\": null, "
            "\"severity\": \"%s\", \"message\": \"%d more %s%s not shown\", \"fix\": null, \"note\": null}\n",
            severity, more, severity, more == 1 ? " is" : "s are");
}

char *smp_diags_json(const smp_diags *diags)
{
    smp_text text = {0};
    for (size_t i = 0; i < diags->count; i++)
        put_item(&text, diags, &diags->items[i]);
    put_more(&text, diags->errors - diags->stored_errors, "error");
    put_more(&text, diags->warnings - diags->stored_warnings, "warning");
    return smp_text_take(&text);
}
