/* Launches. Blocks are spread over host threads. In a block, the lanes of one warp run one after another, each until it
 * reaches a barrier, a warp exchange or its end; then the next warp runs. So when its lanes have stopped, a warp's
 * instructions between two barriers are complete, and only one warp's must be remembered. */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/os/machine.h"
#include "device/simt/simt_internal.h"

__thread smp_simt_thread smp_simt_self;
__thread simt_worker *simt_me;

/* ------------------------------------------------------------------------------------------------ faults */

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static char fault_text[256];

void simt_fault(simt_launch *launch, CUresult result, const char *format, ...)
{
    int none = CUDA_SUCCESS;
    if (!atomic_compare_exchange_strong(&launch->fault, &none, result))
        return; /* report the first fault only */
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&fault_lock);
    snprintf(fault_text, sizeof fault_text, "emulator: kernel %s: %s", launch->kernel->name, text);
    pthread_mutex_unlock(&fault_lock);
}

const char *simt_fault_text(void)
{
    return fault_text;
}

_Noreturn void simt_abandon(simt_worker *worker)
{
    worker->abandoned = true;
    simt_fiber_leave(worker->fibers, worker->current);
    __builtin_unreachable(); /* a fiber of an abandoned block is reset before it runs again */
}

/* ------------------------------------------------------------------------------------------------ threads of a block
 */

static void fiber_main(void *context, int n)
{
    simt_worker *worker = context;
    for (;;) { /* the next block continues the fiber here */
        worker->launch->kernel->run(worker->launch->args);
        worker->state[n] = SIMT_EXITED;
        simt_fiber_leave(worker->fibers, n);
    }
}

/* Called by a fiber: stops it with a state until the scheduler resumes it. */
static void stop(simt_worker *worker, simt_state state)
{
    int n = worker->current;
    worker->state[n] = state;
    simt_fiber_leave(worker->fibers, n);
}

void smp_simt_block_barrier(void)
{
    simt_worker *worker = simt_me;
    worker->barrier[worker->current] = simt_calls_place(__builtin_return_address(0));
    stop(worker, SIMT_AT_BARRIER);
}

void smp_simt_word_tell(unsigned long long *at, unsigned long long word)
{
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
}

/* Blocks begin in the order of a counter and run on until they end, each on a thread of the host: one that has begun
 * gets on while others ask for its word. */
unsigned long long smp_simt_word_ask(const unsigned long long *at)
{
    const unsigned long long word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (!word) {
        if (atomic_load(&simt_me->launch->fault) != CUDA_SUCCESS)
            simt_abandon(simt_me);
        sched_yield();
    }
    return word;
}

unsigned smp_simt_lane(void)
{
    return (unsigned)simt_me->current % SIMT_LANES;
}

uint64_t smp_simt_exchange(int op, uint32_t mask, uint64_t value, int argument)
{
    simt_worker *worker = simt_me;
    int n = worker->current;
    if (!(mask >> (unsigned)n % SIMT_LANES & 1)) {
        simt_fault(worker->launch, CUDA_ERROR_LAUNCH_FAILED, "a lane is not in the mask 0x%08x that it names", mask);
        simt_abandon(worker);
    }
    worker->exchange[n] = (simt_exchange){.op = op, .argument = argument, .mask = mask, .value = value};
    stop(worker, SIMT_AT_EXCHANGE);
    return worker->exchange[n].result;
}

/* Gives every lane of `here` the result of its exchange. */
static void resolve(simt_exchange *lanes, uint32_t here, int op)
{
    uint64_t all = 1, any = 0, ballot = 0, sum = 0, least = UINT32_MAX, most = 0;
    for (unsigned lane = 0; lane < SIMT_LANES; lane++) {
        if (!(here >> lane & 1))
            continue;
        uint64_t value = lanes[lane].value;
        all &= value;
        any |= value;
        ballot |= value << lane;
        sum += value;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    for (unsigned lane = 0; lane < SIMT_LANES; lane++) {
        if (!(here >> lane & 1))
            continue;
        simt_exchange *mine = &lanes[lane];
        unsigned from = (unsigned)mine->argument & (SIMT_LANES - 1);
        switch ((smp_simt_exchange_op)op) {
        case SMP_SIMT_SYNC:
            break;
        case SMP_SIMT_SHUFFLE: /* from a lane that takes no part: undefined, so return a value that shows */
            mine->result = here >> from & 1 ? lanes[from].value : 0xdeadbeefdeadbeefull;
            break;
        case SMP_SIMT_BALLOT:
            mine->result = ballot;
            break;
        case SMP_SIMT_ANY:
            mine->result = any;
            break;
        case SMP_SIMT_ALL:
            mine->result = all;
            break;
        case SMP_SIMT_ADD:
            mine->result = (uint32_t)sum;
            break;
        case SMP_SIMT_MIN:
            mine->result = least;
            break;
        case SMP_SIMT_MAX:
            mine->result = most;
            break;
        }
    }
}

/* Resumes the lanes of a warp whose exchange is complete; true when there were any. */
static bool release_exchanges(simt_worker *worker, int warp)
{
    int first = warp * SIMT_LANES, lanes = worker->threads - first;
    lanes = lanes < SIMT_LANES ? lanes : SIMT_LANES;
    simt_state *state = worker->state + first;
    simt_exchange *exchange = worker->exchange + first;
    bool some = false;
    for (int lane = 0; lane < lanes; lane++) {
        if (state[lane] != SIMT_AT_EXCHANGE)
            continue;
        uint32_t here = 0, living = 0;
        bool complete = true;
        for (int other = 0; other < lanes; other++) {
            living |= (uint32_t)(state[other] != SIMT_EXITED) << other;
            if (!(exchange[lane].mask >> other & 1) || state[other] == SIMT_EXITED)
                continue;
            complete = complete && state[other] == SIMT_AT_EXCHANGE && exchange[other].op == exchange[lane].op &&
                       exchange[other].mask == exchange[lane].mask;
            here |= 1u << other;
        }
        if (!complete)
            continue;
        int op = exchange[lane].op;
        resolve(exchange, here, op);
        for (int other = 0; other < lanes; other++)
            if (here >> other & 1)
                state[other] = SIMT_READY;
        if (worker->launch->trace)
            simt_trace_exchange(worker);
        if (op == SMP_SIMT_SYNC && here == living && worker->launch->trace)
            simt_trace_warp_sync(worker, warp);
        some = true;
    }
    return some;
}

/* Runs a warp until all its lanes have left or wait for the block. */
static void run_warp(simt_worker *worker, int warp, const uint8_t *lane_order)
{
    do {
        for (int i = 0; i < SIMT_LANES; i++) {
            int n = warp * SIMT_LANES + lane_order[i];
            if (n >= worker->threads || worker->state[n] != SIMT_READY)
                continue;
            worker->current = n;
            smp_simt_self.thread = worker->place[n];
            if (worker->launch->trace)
                simt_calls_resume(worker);
            simt_fiber_enter(worker->fibers, n);
            if (worker->launch->trace)
                simt_calls_stop(worker);
            if (worker->abandoned)
                return;
        }
    } while (release_exchanges(worker, warp));
    for (int n = warp * SIMT_LANES; n < worker->threads && n < (warp + 1) * SIMT_LANES; n++)
        if (worker->state[n] == SIMT_AT_EXCHANGE) {
            simt_fault(worker->launch, CUDA_ERROR_LAUNCH_FAILED,
                       "thread %d waits for lanes of its warp (mask 0x%08x) that never come", n,
                       worker->exchange[n].mask);
            worker->abandoned = true;
            return;
        }
}

/* ------------------------------------------------------------------------------------------------ blocks */

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static void permute(uint8_t *order, int count, int kind, uint64_t *random)
{
    for (int i = 0; i < count; i++)
        order[i] = (uint8_t)(kind == SMP_SIMT_REVERSED ? count - 1 - i : i);
    for (int i = count - 1; i > 0 && kind > SMP_SIMT_REVERSED; i--) {
        int j = (int)(random_next(random) % (uint64_t)(i + 1));
        uint8_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* Called when all threads of the block wait or have left: true when some wait and may continue. */
static bool pass_barrier(simt_worker *worker)
{
    int left = 0;
    const simt_place *place = NULL;
    bool elsewhere = false;
    for (int n = 0; n < worker->threads; n++) {
        if (worker->state[n] == SIMT_EXITED) {
            left++;
            continue;
        }
        const simt_place *here = &worker->barrier[n];
        elsewhere = elsewhere || (place && (place->pc != here->pc || place->path != here->path));
        place = here;
        worker->state[n] = SIMT_READY;
    }
    if (!place)
        return false;
    simt_launch *launch = worker->launch;
    if (launch->trace) {
        if (left || elsewhere)
            simt_trace_divergent(worker, place);
        simt_trace_barrier(worker);
    } else if (left) { /* an optimising compiler may duplicate a barrier's call, so only traced builds compare places */
        simt_fault(launch, CUDA_ERROR_LAUNCH_FAILED, "divergent barrier: %d of %d threads had left the block", left,
                   worker->threads);
        worker->abandoned = true;
        return false;
    }
    return true;
}

static void run_block(simt_worker *worker, uint64_t block)
{
    simt_launch *launch = worker->launch;
    uint64_t random = (uint64_t)launch->order * UINT64_C(0x100000001b3) + block;
    if (launch->order == SMP_SIMT_REVERSED)
        block = launch->blocks - 1 - block;
    smp_simt_self.block =
        (smp_simt_index){(unsigned)(block % launch->grid[0]), (unsigned)(block / launch->grid[0] % launch->grid[1]),
                         (unsigned)(block / launch->grid[0] / launch->grid[1])};
    for (int n = 0; n < worker->threads; n++)
        worker->state[n] = SIMT_READY;
    simt_memory_begin(worker);
    if (launch->trace)
        simt_trace_block(worker);
    int warps = (worker->threads + SIMT_LANES - 1) / SIMT_LANES;
    uint8_t warp_order[SIMT_WARPS], lane_order[SIMT_WARPS][SIMT_LANES];
    permute(warp_order, warps, launch->order, &random);
    for (int warp = 0; warp < warps; warp++)
        permute(lane_order[warp], SIMT_LANES, launch->order, &random);
    do {
        for (int i = 0; i < warps && !worker->abandoned; i++) {
            run_warp(worker, warp_order[i], lane_order[warp_order[i]]);
            if (launch->trace)
                simt_trace_warp_end(worker);
        }
    } while (!worker->abandoned && pass_barrier(worker));
    if (worker->abandoned) {
        for (int n = 0; n < SIMT_THREADS; n++)
            simt_fiber_reset(worker->fibers, n);
        worker->abandoned = false;
    }
}

/* ------------------------------------------------------------------------------------------------ workers */

static struct {
    simt_worker *workers[SIMT_WORKERS];
    pthread_t threads[SIMT_WORKERS];
    int count, started; /* worker 0 is the caller */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    uint64_t generation;
    simt_launch *launch;
    int busy;
    bool quit;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void work(simt_worker *worker, simt_launch *launch)
{
    simt_worker *outer = simt_me;
    simt_me = worker;
    worker->launch = launch;
    worker->threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    smp_simt_self.block_dim = (smp_simt_index){launch->block[0], launch->block[1], launch->block[2]};
    smp_simt_self.grid_dim = (smp_simt_index){launch->grid[0], launch->grid[1], launch->grid[2]};
    for (int n = 0; n < worker->threads; n++)
        worker->place[n] =
            (smp_simt_index){(unsigned)n % launch->block[0], (unsigned)n / launch->block[0] % launch->block[1],
                             (unsigned)n / launch->block[0] / launch->block[1]};
    for (;;) {
        uint64_t block = atomic_fetch_add(&launch->next_block, 1);
        if (block >= launch->blocks || atomic_load(&launch->fault) != CUDA_SUCCESS)
            break;
        run_block(worker, block);
    }
    simt_me = outer;
}

static void *worker_main(void *argument)
{
    simt_worker *worker = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.generation == seen && !pool.quit)
            pthread_cond_wait(&pool.work, &pool.lock);
        if (pool.quit)
            break;
        seen = pool.generation;
        simt_launch *launch = pool.launch;
        pthread_mutex_unlock(&pool.lock);
        work(worker, launch);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0)
            pthread_cond_signal(&pool.done);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static void worker_free(simt_worker *worker)
{
    if (!worker)
        return;
    simt_fibers_free(worker->fibers);
    simt_trace_free(worker);
    smp_free_all(worker->calls, worker->copies);
    if (worker->arena)
        simt_memory_close(worker);
    smp_free(worker);
}

static simt_worker *worker_new(void)
{
    simt_worker *worker = smp_alloc(sizeof *worker);
    if (!worker)
        return NULL;
    worker->fibers = simt_fibers_new(fiber_main, worker);
    void *arena = mmap(NULL, SIMT_ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    worker->arena = arena == MAP_FAILED ? NULL : arena;
    if (!worker->fibers || !worker->arena) {
        worker_free(worker);
        return NULL;
    }
    return worker;
}

bool simt_pool_open(int threads)
{
    const long cores = threads > 0 ? threads : smp_machine_processors();
    pool.count = (int)(cores < 1 ? 1 : cores > SIMT_WORKERS ? SIMT_WORKERS : cores);
    pool.quit = false;
    pool.generation = 0;
    pool.started = 1;
    for (int i = 0; i < pool.count; i++)
        if (!(pool.workers[i] = worker_new())) {
            simt_pool_close();
            return false;
        }
    /* A machine that grants fewer threads runs the blocks on those. */
    while (pool.started < pool.count &&
           pthread_create(&pool.threads[pool.started], NULL, worker_main, pool.workers[pool.started]) == 0)
        pool.started++;
    return true;
}

void simt_pool_close(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.quit = true;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 1; i < pool.started; i++)
        pthread_join(pool.threads[i], NULL);
    for (int i = 0; i < SIMT_WORKERS; i++) {
        worker_free(pool.workers[i]);
        pool.workers[i] = NULL;
    }
    pool.started = pool.count = 0;
}

int simt_pool_threads(void)
{
    return pool.started;
}

void simt_pool_run(simt_launch *launch)
{
    int workers = launch->blocks > 1 ? pool.started : 1;
    for (int i = 0; i < workers && launch->trace; i++)
        if (!simt_trace_prepare(pool.workers[i])) {
            simt_fault(launch, CUDA_ERROR_OUT_OF_MEMORY, "no memory for its trace");
            return;
        }
    if (workers > 1) {
        pthread_mutex_lock(&pool.lock);
        pool.launch = launch;
        pool.busy = workers - 1;
        pool.generation++;
        pthread_cond_broadcast(&pool.work);
        pthread_mutex_unlock(&pool.lock);
    }
    work(pool.workers[0], launch);
    if (workers > 1) {
        pthread_mutex_lock(&pool.lock);
        while (pool.busy)
            pthread_cond_wait(&pool.done, &pool.lock);
        pthread_mutex_unlock(&pool.lock);
    }
    for (int i = 0; i < workers && launch->trace; i++)
        if (!simt_trace_merge(pool.workers[i], launch->trace))
            simt_fault(launch, CUDA_ERROR_OUT_OF_MEMORY, "no memory for its trace");
}
