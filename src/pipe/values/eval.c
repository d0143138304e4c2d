/* Evaluates compiled arithmetic for a shape. See expr.h. */
#include <math.h>

#include "pipe/limits.h"
#include "pipe/values/expr.h"

static smp_eval variable(smp_op_code code, const smp_shape *shape, double *value)
{
    if (!shape)
        return SMP_EVAL_SHAPE;
    if (code == SMP_OP_RATE && !(shape->rate > 0))
        return SMP_EVAL_RATE;
    *value = code == SMP_OP_WIDTH      ? (double)shape->width
             : code == SMP_OP_HEIGHT   ? (double)shape->height
             : code == SMP_OP_CHANNELS ? shape->channels
                                       : shape->rate;
    return SMP_EVAL_DONE;
}

/* *a becomes the operation's result; b: the second operand of those that have two. */
static smp_eval apply(const smp_op *op, double *a, double b)
{
    switch (op->code) {
    case SMP_OP_ADD:
        *a += b;
        break;
    case SMP_OP_SUBTRACT:
        *a -= b;
        break;
    case SMP_OP_MULTIPLY:
        *a *= b;
        break;
    case SMP_OP_DIVIDE:
        if (b == 0)
            return SMP_EVAL_ZERO;
        *a /= b;
        break;
    case SMP_OP_NEGATE:
        *a = -*a;
        break;
    case SMP_OP_MIN:
        *a = *a < b ? *a : b;
        break;
    case SMP_OP_MAX:
        *a = *a > b ? *a : b;
        break;
    case SMP_OP_ROUND:
        *a = round(*a);
        break;
    case SMP_OP_WITHIN:
        if (*a < op->bounds->min || *a > op->bounds->max)
            return SMP_EVAL_BOUNDS;
        break;
    default:
        break;
    }
    return isfinite(*a) ? SMP_EVAL_DONE : SMP_EVAL_INFINITE;
}

/* *a, the range's lower end, becomes what is drawn. */
static smp_eval draw_between(const smp_op *op, const smp_eval_for *with, int step, double *a, double b)
{
    double low = *a * op->number;
    low = step ? ceil(low) : low;
    low += step == 2 && fmod(low, 2) == 0;
    if (!(low <= b))
        return SMP_EVAL_RANGE;
    const double u = with->draw ? smp_draw_uniform(with->draw, op->place) : with->example % 2;
    const double steps = step ? floor((b - low) / step) : 0; /* from the least number to the most */
    *a = step ? low + step * fmin(steps, floor(u * (steps + 1))) : low + u * (b - low);
    return isfinite(*a) ? SMP_EVAL_DONE : SMP_EVAL_INFINITE;
}

/* The first of op->count values becomes the one that is drawn. */
static void pick(const smp_op *op, const smp_eval_for *with, double *values)
{
    if (with->draw) {
        values[0] = values[(int)(smp_draw_uniform(with->draw, op->place) * op->count)];
        return;
    }
    if (with->example > 1)
        values[0] = values[with->example - 2 < op->count ? with->example - 2 : op->count - 1];
    for (int i = 1; i < op->count && with->example < 2; i++)
        values[0] = with->example ? fmax(values[0], values[i]) : fmin(values[0], values[i]);
}

smp_eval smp_expr_evaluate(const smp_expr *expr, const smp_eval_for *with, double *value, const smp_bounds **outside)
{
    double stack[SMP_MAX_STACK]; /* the compiler keeps expressions below it */
    int top = -1;
    *value = 0;
    *outside = NULL;
    for (size_t i = 0; i < expr->count; i++) {
        const smp_op *op = &expr->ops[i];
        smp_eval result;
        if (op->code <= SMP_OP_RATE) {
            if (top + 1 >= SMP_MAX_STACK)
                return SMP_EVAL_INFINITE;
            stack[++top] = op->number;
            if (op->code != SMP_OP_NUMBER && (result = variable(op->code, with->shape, &stack[top])) != SMP_EVAL_DONE)
                return result;
            continue;
        }
        if (op->code == SMP_OP_PICK) {
            top -= op->count - 1;
            pick(op, with, &stack[top]);
            continue;
        }
        double b = stack[top];
        bool unary = op->code == SMP_OP_NEGATE || op->code == SMP_OP_ROUND || op->code == SMP_OP_WITHIN;
        double *a = &stack[unary ? top : --top];
        result = op->code == SMP_OP_RANDOM ? draw_between(op, with, i + 1 == expr->count ? with->step : 0, a, b)
                                           : apply(op, a, b);
        if (result == SMP_EVAL_BOUNDS) {
            *value = *a;
            *outside = op->bounds;
        }
        if (result != SMP_EVAL_DONE)
            return result;
    }
    *value = stack[0];
    return SMP_EVAL_DONE;
}

void smp_expr_report(smp_diags *diags, smp_span span, smp_eval what, double value, const smp_bounds *outside)
{
    char is[SMP_NUMBER_TEXT], min[SMP_NUMBER_TEXT], max[SMP_NUMBER_TEXT];
    switch (what) {
    case SMP_EVAL_ZERO:
        smp_diags_add(diags, SMP_ERROR, span, "division by zero");
        break;
    case SMP_EVAL_INFINITE:
        smp_diags_add(diags, SMP_ERROR, span, "the result is too large");
        break;
    case SMP_EVAL_RATE:
        smp_diags_add(diags, SMP_ERROR, span, "'rate' is the sample rate of a sound; a picture has none");
        break;
    case SMP_EVAL_BOUNDS:
        smp_quantity_text(is, value, outside->unit);
        smp_quantity_text(min, outside->min, outside->unit);
        smp_quantity_text(max, outside->max, outside->unit);
        smp_diags_add(diags, SMP_ERROR, span, "'$%.60s' is %s, but it must be %s%s%s%s", outside->name, is,
                      isinf(outside->min)   ? "at most "
                      : isinf(outside->max) ? "at least "
                                            : "",
                      isinf(outside->min) ? "" : min, isinf(outside->min) || isinf(outside->max) ? "" : " to ",
                      isinf(outside->max) ? "" : max);
        break;
    case SMP_EVAL_RANGE:
        smp_diag_note(diags, smp_diags_add(diags, SMP_ERROR, span, "nothing lies in this range"),
                      "the smaller number comes first: random(0.8..1.2)");
        break;
    case SMP_EVAL_DONE:
    case SMP_EVAL_SHAPE:
        break;
    }
}
