/* libFuzzer target for the pipeline language: any bytes must give a program or diagnostics, never a crash, a leak or an
 * endless loop. The first byte chooses what is done beside parsing; a text may include itself and one other. */
#include <string.h>

#include "base/alloc.h"
#include "pipe/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    const char *text;
    size_t length;
} input;

/* Every path is the text under test, so that includes have all the language to play with. */
static smp_code load(void *context, const char *including, const char *path, char **text, size_t *length,
                     smp_error *err)
{
    const input *in = context;
    (void)including;
    if (strstr(path, "none"))
        return smp_fail(err, SMP_E_READ, "no such file");
    *text = smp_strndup(in->text, in->length);
    *length = *text ? in->length : 0;
    return *text ? SMP_OK : smp_fail_memory(err, "text", in->length);
}

static void use(const smp_program *program, smp_diags *diags)
{
    static const smp_shape shapes[] = {
        {.kind = SMP_IMAGE, .width = 640, .height = 480, .channels = 3},
        {.kind = SMP_AUDIO, .width = 1, .height = 48000, .channels = 2, .format = SMP_F32, .rate = 48000},
        {.kind = SMP_IMAGE, .width = 1, .height = 1, .channels = 4, .alpha = true, .format = SMP_U16},
    };
    for (size_t i = 0; i < program->node_count && i < 100; i++) {
        const smp_stage *stage = program->nodes[i].stage;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            smp_error err;
            void *params = smp_alloc(stage->params_size);
            if (params && !smp_node_params(program, &program->nodes[i], &shapes[s], NULL, diags, params, &err))
                smp_free(smp_params_text(stage, params));
            smp_free(params);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    uint8_t how = data[0];
    input in = {(const char *)data + 1, size - 1};
    smp_setting settings[] = {{"size", "3px"}, {"s", "{width/2}"}};
    uint64_t live = smp_alloc_live();
    smp_diags diags = {0};
    smp_program *program;
    smp_error err;
    smp_program_parse("fuzz.pipe", in.text, in.length, settings, how & 3 ? 0 : 2, how & 4 ? load : NULL, &in, &diags,
                      &program, &err);
    if (program)
        use(program, &diags);
    smp_free(smp_diags_text(&diags, how & 8));
    smp_free(smp_diags_json(&diags));
    smp_program_free(program);
    smp_diags_free(&diags);
    if (smp_alloc_live() != live)
        __builtin_trap();
    return 0;
}
