/* See together.h. Memory is taken from three arenas, front to back: the device's own; one that the host fills and
 * sends, of rows, tables, and the views and parameters of launches; and one that comes back, of results and doubts.
 * Pictures are walked through their plans up to a reduction; those launches are sent and run, the host finishes the
 * reductions, and the walk goes on. */
#include "run/together.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "device/cuda/cuda.h"
#include "device/kernel_table.h"
#include "lib/many.h"
#include "run/strips/step.h"
#include "stages/launch.h"

enum { OWN, SENT, BACK, ARENAS };
enum { ALIGN = 256, MOST_STEPS = 24, MOST_LAUNCHES = 40 };

/* ------------------------------------------------------------------------------------------------ kernels */

/* The kernel of many pictures for one of one picture; null: there is none. */
static const char *find_kernel(const char *kernel, const smp_io *io)
{
    static const char *const formats[SMP_FORMATS] = {"u8", "u16", "f32"};
    char name[96];
    snprintf(name, sizeof name, "%s_%s_%s_many", kernel, formats[io->in.format],
             formats[io->out.data ? io->out.format : io->in.format]);
    return smp_kernel_name_of(name);
}

/* ------------------------------------------------------------------------------------------------ one picture */

typedef struct arena {
    char *device, *host; /* host: where it is filled; null: nowhere */
    size_t used, size;
} arena;

static bool is_full(const arena *a)
{
    return a->used == a->size;
}

/* Where a piece begins. Where one does not fit the arena is full, and no walk ends well. */
static size_t take(arena *a, size_t size)
{
    const size_t at = a->used, left = a->size - a->used;
    a->used += size < left ? smp_min_u64((size + ALIGN - 1) / ALIGN * ALIGN, left) : left;
    return size < left ? at : a->size;
}

typedef struct made { /* a launch of one picture */
    const char *kernel;
    smp_grid grid;
    smp_io io;
    const void *params;
    size_t size;
} made;

typedef struct walk {
    const smp_plan *plan;
    const smp_device_info *device;
    arena *own, *sent, *back;
    smp_view views[MOST_STEPS];
    size_t at;     /* the next step */
    int reduction; /* that the walk stands behind, or SMP_STEP_NONE */
    size_t result; /* of it: where in what comes back, */
    size_t doubts; /* and where a counter is */
    made launches[MOST_LAUNCHES];
    int count, next; /* next: that is not queued yet */
} walk;

static smp_view take_view(const smp_shape *shape, smp_format storage, arena *from)
{
    const int64_t stride = smp_row_stride(shape, storage);
    const size_t at = take(from, (size_t)stride * (size_t)shape->height);
    return smp_view_of(shape, storage, from->device + at, stride, 0, 0, shape->height);
}

/* A table that the plan has, sent; null: it has none. */
static const void *take_table(walk *w, const smp_table *table)
{
    if (!table->size)
        return NULL;
    const size_t at = take(w->sent, table->size);
    if (w->sent->host && table->data && at < w->sent->size)
        memcpy(w->sent->host + at, table->data, table->size);
    return w->sent->device + at;
}

static bool add_launch(walk *w, const smp_launch *launch, const smp_io *io, const void *params, size_t size)
{
    if (w->count == MOST_LAUNCHES)
        return false;
    made *m = &w->launches[w->count];
    *m = (made){.io = *io,
                .params = params,
                .size = size,
                .grid = {.grid = {1, 1, 1},
                         .block = {1, 1, 1},
                         .units = (unsigned)w->device->units,
                         .shared_most = (unsigned)w->device->shared_per_block}};
    const char *kernel = smp_launch_decide(launch, io, params, &m->grid);
    if (!kernel || !*kernel)
        return kernel != NULL;
    m->kernel = find_kernel(kernel, io);
    m->io.strips = m->grid.strips;
    w->count += m->kernel != NULL;
    return m->kernel && m->grid.grid[2] == 1;
}

/* Where the rung puts what lies between its launches; null: it has none. */
static void *take_scratch(walk *w, const smp_step *step, const smp_variant *variant)
{
    for (int i = 0; i < SMP_MAX_LAUNCHES; i++)
        if (smp_launch_runs(&variant->launches[i], true) && variant->launches[i].to == SMP_SCRATCH)
            return w->own->device + take(w->own, (size_t)smp_step_scratch_stride(step) *
                                                     (size_t)smp_step_scratch_rows(step, step->in.height));
    return NULL;
}

/* The launches of a rung; false: they are not those of many pictures. */
static bool add_variant(walk *w, const smp_step *step, const smp_variant *variant, const smp_io *views)
{
    const int before = w->count;
    const size_t used = w->own->used;
    void *scratch = take_scratch(w, step, variant);
    bool good = true;
    for (int i = 0; good && i < SMP_MAX_LAUNCHES; i++) {
        const smp_launch *launch = &variant->launches[i];
        size_t at = 0, size;
        bool counts;
        if (!smp_launch_runs(launch, true) ||
            (views->result && !smp_result_part(&step->work.reduction, launch, &at, &size, &counts)))
            continue;
        smp_io io = smp_step_views(step, launch, &views->in, &views->out, &views->second, scratch);
        io.table = views->table;
        io.result = views->result ? (char *)views->result + at : NULL;
        io.clipped = views->clipped;
        good = !launch->foreign && add_launch(w, launch, &io, step->work.kernel.bytes, step->work.kernel.size);
    }
    if (good && w->count > before)
        return true;
    w->count = before;
    w->own->used = used;
    return false;
}

static bool add_step(walk *w, size_t index)
{
    const smp_step *step = &w->plan->steps[index];
    const bool reduces = step->job == SMP_JOB_REDUCE;
    const smp_variant *list = smp_step_variants(step);
    smp_io io = {.in = w->views[step->input]};
    if (step->job == SMP_JOB_SOURCE || step->second >= 0 ||
        (reduces && (step->work.reduction.more_at || step->work.reduction.kind == SMP_RESULT_NONE)))
        return false;
    if (reduces) {
        w->views[index] = io.out = io.in;
        w->reduction = (int)index;
        w->result = take(w->back, step->work.reduction.size);
        io.result = w->back->device + w->result;
    } else
        w->views[index] = io.out = take_view(&step->out, step->storage, w->own);
    io.table = take_table(w, &step->work.table);
    io.clipped = step->work.values.undecided ? (uint64_t *)(void *)(w->back->device + w->doubts) : NULL;
    for (size_t i = smp_variant_count(list); i-- > 0;)
        if (add_variant(w, step, &list[i], &io))
            return true;
    return false;
}

/* Goes on behind the next reduction, or to the end. False: not served. */
static bool walk_on(walk *w, const smp_tensor *tensor)
{
    static const smp_launch last = {.cuda = "tensor"};
    w->reduction = SMP_STEP_NONE;
    w->count = w->next = 0;
    while (w->at < w->plan->step_count && w->reduction < 0)
        if (!add_step(w, w->at++))
            return false;
    if (is_full(w->own) || is_full(w->sent) || is_full(w->back))
        return false;
    smp_io io = {.in = w->views[w->plan->sinks[0].step]};
    io.out = io.in;
    return w->reduction >= 0 || add_launch(w, &last, &io, tensor, sizeof *tensor);
}

static bool begin_walk(walk *w, const smp_device_info *device, const smp_plan *plan, arena *arenas)
{
    *w = (walk){.plan = plan,
                .device = device,
                .own = &arenas[OWN],
                .sent = &arenas[SENT],
                .back = &arenas[BACK],
                .reduction = SMP_STEP_NONE,
                .at = 1};
    if (plan->step_count > MOST_STEPS || plan->sink_count != 1 || plan->sinks[0].coded || plan->prepass >= 0)
        return false;
    const smp_step *source = &plan->steps[0], *end = &plan->steps[plan->sinks[0].step];
    w->doubts = take(w->back, sizeof(uint64_t));
    w->views[0] = take_view(&source->out, source->storage, w->sent);
    return end->storage == SMP_U8 && end->out.format == SMP_U8 && source->storage == source->out.format &&
           !is_full(w->sent);
}

static size_t item_size(const made *m)
{
    return SMP_MANY_PARAMS + (m->size + SMP_MANY_ALIGN - 1) / SMP_MANY_ALIGN * SMP_MANY_ALIGN;
}

bool smp_together_serves(const smp_device_info *device, const smp_plan *plan, const smp_together_need *most,
                         smp_together_need *need)
{
    static const smp_tensor tensor;
    arena arenas[ARENAS] = {[OWN] = {.device = SMP_PROBE_ADDRESS, .size = most->memory},
                            [SENT] = {.device = SMP_PROBE_ADDRESS, .size = most->sent},
                            [BACK] = {.device = SMP_PROBE_ADDRESS, .size = most->back}};
    walk *w = smp_alloc(sizeof *w);
    bool served = w && begin_walk(w, device, plan, arenas);
    do {
        served = served && walk_on(w, &tensor);
        for (int i = 0; served && i < w->count; i++)
            take(w->sent, item_size(&w->launches[i]) + ALIGN);
    } while (served && w->reduction >= 0);
    smp_free(w);
    *need = (smp_together_need){arenas[OWN].used, arenas[SENT].used, arenas[BACK].used};
    return served && !is_full(&arenas[SENT]);
}

/* ------------------------------------------------------------------------------------------------ many */

struct smp_together {
    smp_device *device;
    smp_together_need usual;
    void *table;
    arena arenas[ARENAS];
    size_t gone; /* bytes that were sent */
    smp_mark *mark;
    walk *walks;
    size_t capacity;
};

smp_code smp_together_open(smp_device *device, const smp_together_need *usual, const void *table, size_t table_size,
                           smp_together **out, smp_error *err)
{
    const int64_t size = (int64_t)table_size;
    smp_together *r = smp_alloc(sizeof *r);
    *out = NULL;
    SMP_NEED(r, "pictures", sizeof *r, err);
    r->device = device;
    r->usual = *usual;
    smp_code code = size ? device->ops->alloc(device, table_size, &r->table, err) : SMP_OK;
    if (!code && size)
        code = device->ops->copy_in(device, r->table, size, table, size, size, 1, err);
    if (code) {
        smp_together_close(r);
        return code;
    }
    *out = r;
    return SMP_OK;
}

static void release(const smp_together *r, int which)
{
    const arena *a = &r->arenas[which];
    if (a->device)
        r->device->ops->free(r->device, a->device);
    if (a->host && which == SENT)
        r->device->ops->pinned_free(r->device, a->host);
    else
        smp_free(a->host);
}

/* Makes an arena large enough. Sizes are few: small pictures' an eighth of the usual, the usual, and what a large one
 * needs, for what a device gets back it keeps. */
static smp_code reserve(smp_together *r, int which, size_t size, smp_error *err)
{
    enum { SMALL = 8 };
    const size_t all[] = {[OWN] = r->usual.memory, [SENT] = r->usual.sent, [BACK] = r->usual.back}, usual = all[which];
    arena *a = &r->arenas[which];
    if (size < a->size)
        return SMP_OK;
    release(r, which);
    *a = (arena){.device = NULL};
    size = size < usual / SMALL ? usual / SMALL : size < usual ? usual : size + size / 4 / ALIGN * ALIGN;
    SMP_TRY(r->device->ops->alloc(r->device, size, (void **)&a->device, err));
    if (which != OWN)
        SMP_NEED(a->host = which == SENT ? r->device->ops->pinned_alloc(r->device, size) : smp_alloc(size),
                 "what a GPU is sent", size, err);
    a->size = size;
    return SMP_OK;
}

void smp_together_close(smp_together *r)
{
    if (!r)
        return;
    (void)r->device->ops->sync(r->device, NULL);
    for (int i = 0; i < ARENAS; i++)
        release(r, i);
    if (r->table)
        r->device->ops->free(r->device, r->table);
    r->device->ops->unmark(r->device, r->mark);
    smp_free_all(r->walks, r);
}

static bool same_launch(const made *a, const made *b)
{
    return a->kernel == b->kernel && !memcmp(a->grid.block, b->grid.block, sizeof a->grid.block);
}

static made *head(walk *w)
{
    return w->next < w->count ? &w->launches[w->next] : NULL;
}

typedef struct queued {
    made all; /* kernel and the largest grid */
    size_t items;
} queued;

/* Puts launches that are alike side by side. */
static void join(smp_together *r, size_t count, queued *q)
{
    const size_t size = item_size(&q->all);
    size_t pictures = 0;
    for (size_t i = 0; i < count; i++)
        pictures += head(&r->walks[i]) && same_launch(head(&r->walks[i]), &q->all);
    q->items = take(&r->arenas[SENT], size * pictures);
    q->all.grid.grid[2] = (unsigned)pictures;
    char *to = r->arenas[SENT].host + q->items;
    for (size_t i = 0; i < count && !is_full(&r->arenas[SENT]); i++) {
        const made *m = head(&r->walks[i]);
        if (!m || !same_launch(m, &q->all))
            continue;
        memcpy(to, &m->io, sizeof m->io);
        memcpy(to + SMP_MANY_PARAMS, m->params, m->size);
        to += size;
        for (int k = 0; k < 2; k++)
            q->all.grid.grid[k] = (unsigned)smp_max_u64(q->all.grid.grid[k], m->grid.grid[k]);
        q->all.grid.shared_bytes = (unsigned)smp_max_u64(q->all.grid.shared_bytes, m->grid.shared_bytes);
        r->walks[i].next++;
    }
}

/* Takes the next launch of the picture that has most before it, for all that have come to it. False: there is none. */
static bool join_next(smp_together *r, size_t count, queued *q)
{
    walk *first = NULL;
    for (size_t i = 0; i < count; i++) {
        walk *w = &r->walks[i];
        if (w->next < w->count && (!first || w->count - w->next > first->count - first->next))
            first = w;
    }
    if (!first || is_full(&r->arenas[SENT]))
        return false;
    q->all = *head(first);
    join(r, count, q);
    return true;
}

static smp_code launch_all(smp_together *r, size_t count, smp_error *err)
{
    queued launches[MOST_LAUNCHES];
    const arena *sent = &r->arenas[SENT];
    for (int n = MOST_LAUNCHES; n == MOST_LAUNCHES;) {
        for (n = 0; n < MOST_LAUNCHES && join_next(r, count, &launches[n]);)
            n++;
        if (is_full(sent))
            return smp_fail(err, SMP_E_PROCESS, "pictures need more memory than they said");
        const int64_t size = (int64_t)(sent->used - r->gone);
        const smp_rows_sent rows = {.up = true,
                                    .to = sent->device + r->gone,
                                    .from = sent->host + r->gone,
                                    .to_stride = size,
                                    .from_stride = size,
                                    .row_bytes = size,
                                    .rows = 1};
        SMP_TRY(r->device->ops->send(r->device, &rows, NULL, &r->mark, err));
        r->gone = sent->used;
        for (int i = 0; i < n; i++)
            SMP_TRY(smp_cuda_launch_many(r->device, launches[i].all.kernel, &launches[i].all.grid,
                                         sent->device + launches[i].items, err));
    }
    return SMP_OK;
}

/* Lets the stage evaluate what was measured. False: what it says is for the processors to say. */
static bool finish_reduction(const walk *w, smp_plan *plan, const void *result)
{
    const smp_step *reduced = &plan->steps[w->reduction];
    smp_measurements measurements = {0};
    smp_error unsaid;
    bool good = true;
    for (size_t i = w->at; good && i < plan->step_count; i++) {
        smp_node_plan *work = &plan->steps[i].work;
        if (plan->steps[i].reduced_by != w->reduction)
            continue;
        if (work->table.size && !work->table.data)
            good = (work->table.data = smp_alloc(work->table.size)) != NULL;
        good =
            good &&
            !reduced->stage->reduction->finish(reduced->params, &reduced->in, result, work, &measurements, &unsaid) &&
            !work->reduction.outside[0];
    }
    smp_measurements_free(&measurements);
    return good;
}

/* Puts rows where they are sent from, and each walk in front of its first step. */
static smp_code begin_all(smp_together *r, smp_together_picture *const *pictures, size_t count, smp_error *err)
{
    arena *sent = &r->arenas[SENT], *back = &r->arenas[BACK];
    SMP_NEED(smp_grow(&r->walks, &r->capacity, count, sizeof *r->walks), "pictures", count * sizeof *r->walks, err);
    size_t need[ARENAS] = {0};
    for (size_t i = 0; i < count; i++) {
        need[OWN] += pictures[i]->need.memory;
        need[SENT] += pictures[i]->need.sent;
        need[BACK] += pictures[i]->need.back;
    }
    for (int i = 0; i < ARENAS; i++)
        SMP_TRY(reserve(r, i, need[i] + ALIGN, err));
    r->arenas[OWN].used = sent->used = back->used = r->gone = 0;
    for (size_t i = 0; i < count; i++) {
        walk *w = &r->walks[i];
        const smp_view *source = &w->views[0];
        pictures[i]->doubtful = !begin_walk(w, &r->device->info, pictures[i]->plan, r->arenas);
        if (!pictures[i]->doubtful)
            memcpy(sent->host + ((char *)source->data - sent->device), pictures[i]->rows,
                   (size_t)(source->stride * source->height));
    }
    return r->device->ops->zero(r->device, back->device, need[BACK], err);
}

/* Walks all pictures up to their next reductions, or to the end. */
static smp_code go_on(smp_together *r, smp_together_picture *const *pictures, size_t count, smp_error *err)
{
    for (size_t i = 0; i < count; i++) {
        walk *w = &r->walks[i];
        w->count = w->next = 0;
        if (pictures[i]->doubtful || w->at == w->plan->step_count)
            continue;
        pictures[i]->doubtful = !walk_on(w, &pictures[i]->tensor);
        if (pictures[i]->doubtful)
            w->count = 0;
        else if (w->reduction < 0) {
            w->launches[w->count - 1].io.out.data = pictures[i]->place;
            w->launches[w->count - 1].io.table = r->table;
        }
    }
    return launch_all(r, count, err);
}

static smp_code run_all(smp_together *r, smp_together_picture *const *pictures, size_t count, smp_error *err)
{
    const arena *back = &r->arenas[BACK];
    SMP_TRY(begin_all(r, pictures, count, err));
    for (bool more = true; more;) {
        SMP_TRY(go_on(r, pictures, count, err));
        const int64_t size = (int64_t)back->used;
        SMP_TRY(r->device->ops->copy_out(r->device, back->host, size, back->device, size, size, 1, err));
        more = false;
        for (size_t i = 0; i < count; i++) {
            walk *w = &r->walks[i];
            uint64_t doubts;
            memcpy(&doubts, back->host + w->doubts, sizeof doubts);
            if (pictures[i]->doubtful || doubts) {
                pictures[i]->doubtful = true;
                continue;
            }
            if (w->reduction < 0)
                continue;
            pictures[i]->doubtful = !finish_reduction(w, pictures[i]->plan, back->host + w->result);
            more |= !pictures[i]->doubtful;
        }
    }
    return SMP_OK;
}

smp_code smp_together_run(smp_together *r, smp_together_picture *const *pictures, size_t count, smp_error *err)
{
    const smp_code code = run_all(r, pictures, count, err);
    if (code) /* what was queued writes to the places */
        (void)r->device->ops->sync(r->device, NULL);
    return code;
}
