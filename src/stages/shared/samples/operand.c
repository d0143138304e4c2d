/* Stages that combine a picture with a second one, or with a number: whether the two fit, and kernel parameters. */
#include "stages/shared/samples/operand.h"
#include "stages/shared/samples/elementwise.h"
#include "stages/shared/sound/mixing.h"

static smp_code check_fit(const smp_shape *in, const smp_shape *by, smp_error *err)
{
    char first[64], second[64];
    smp_shape_text(in, in->format, first, sizeof first);
    smp_shape_text(by, by->format, second, sizeof second);
    const int colours = in->channels - in->alpha, by_colours = by->channels - by->alpha;
    if (in->kind != by->kind)
        return smp_fail(err, SMP_E_PIPE, "a picture cannot be combined with sound: %s and %s", first, second);
    if (in->kind == SMP_AUDIO && in->rate != by->rate) {
        smp_fail(err, SMP_E_PIPE, "the two must have the same sample rate: %g Hz and by=%g Hz", in->rate, by->rate);
        return smp_hint(err,
                        "make the second alike: smempipe convert IN OUT --rate %.10g; or write `resample %.10gHz` in "
                        "front of the stage",
                        in->rate, by->rate);
    }
    if (in->width != by->width || in->height != by->height) {
        smp_fail(err, SMP_E_PIPE, "the two must have the same size: %s and by=%s", first, second);
        return in->kind == SMP_AUDIO
                   ? smp_hint(err, "`add` and `mix` take sounds of other lengths, `pad length=..` and "
                                   "`trim frames=..` change one")
                   : smp_hint(err, "`blend` with fit=cover or fit=stretch brings the second to that size; `overlay` "
                                   "takes pictures of any size");
    }
    if (by_colours != 1 && by_colours != colours)
        return smp_fail(err, SMP_E_PIPE, "the channels do not match: %s and by=%s", first, second),
               smp_hint(err, "the second needs as many channels as the first, beside alpha, or one for all");
    return SMP_OK;
}

const char *const smp_operand_fit_words[] = {
    [SMP_FIT_INSIDE] = "none", [SMP_FIT_COVER] = "cover", [SMP_FIT_STRETCH] = "stretch", NULL};

bool smp_operand_fits(int fit, const smp_shape *in, const smp_shape *by, smp_node_plan *work)
{
    if (fit == SMP_FIT_INSIDE || !by || by->kind != SMP_IMAGE || in->kind != SMP_IMAGE ||
        (by->width == in->width && by->height == in->height))
        return false;
    work->second.size = (smp_size_params){in->width, in->height, fit};
    return true;
}

/* Whether whole code values in range always give whole code values in range. */
static bool keeps_integers(smp_operation operation)
{
    return operation == SMP_BLEND_NORMAL || operation == SMP_BLEND_DARKEN || operation == SMP_BLEND_LIGHTEN ||
           operation == SMP_BLEND_DIFFERENCE;
}

static bool leaves_range(smp_operation operation)
{
    return operation == SMP_ADD || operation == SMP_SUBTRACT || operation == SMP_DIVIDE || operation == SMP_BLEND_ADD;
}

/* Sounds may differ in length where a sum is wanted: the shorter one is silent behind its end. */
static bool of_other_length(smp_operation operation, const smp_shape *in, const smp_shape *by)
{
    return operation == SMP_ADD && in->kind == SMP_AUDIO && by->kind == SMP_AUDIO && in->height != by->height;
}

smp_code smp_plan_arithmetic(smp_operation operation, const smp_operand *operand, double opacity, const smp_shape *in,
                             const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    if (by && of_other_length(operation, in, by))
        return smp_mix_plan(&(smp_mix_request){.gain = 1, .longest = true}, in, by, work, err);
    SMP_TRY(by ? check_fit(in, by, err) : SMP_OK);
    const double white = (double)smp_white(in->format);
    smp_arithmetic_params *k = SMP_PLAN_KERNEL(work, smp_arithmetic_params);
    *k = (smp_arithmetic_params){
        .operation = (int32_t)operation,
        .number = by ? 0.f : (float)(operand->value * white),
        .scale = by ? (float)(white / (double)smp_white(by->format)) : 1.f,
        .opacity = (float)opacity,
    };
    const bool number_outside = !by && (operand->value < 0 || operand->value > 1);
    work->values.clips = leaves_range(operation) || number_outside;
    if (by && keeps_integers(operation) && by->format == in->format && !by->alpha && opacity == 1)
        work->values.exactness = SMP_INTEGER;
    work->ops = operation < SMP_MULTIPLY ? 2 : 6;
    if (!by && operation < SMP_BLEND_NORMAL)
        work->values.op = SMP_SAMPLE_OP(arithmetic_number, (int32_t)operation, k->number, (float)white);
    return SMP_OK;
}

SMP_TWO_VARIANTS(arithmetic, "vectorised blocks of both inputs in the first-level cache", smp_geometry_samples,
                 smp_geometry_packs);
