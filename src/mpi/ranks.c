/* The ranks of an MPI job: see cli/team.h. Rank 0 deals pieces: a thread of it answers the others' questions while the
 * rest of it works like them. Messages alone, no one-sided operations (Open MPI 4 has none over TCP with threads); one
 * call of MPI at a time, under a lock, which MPI_THREAD_SERIALIZED allows everywhere. Nobody waits inside MPI, where
 * waiting takes a processor: questions are asked again after a pause, which grows. */
#include "mpi/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/ranks.h"
#include "base/whole_file.h"
#include "io/source.h"

enum { ASK = 1, PIECE, FINISH, END, FILE_BYTES, FILE_SIZE }; /* tags of messages */
enum { CHUNK = 1 << 20 };                                    /* bytes of a file in a message */
enum { SHORT_NS = 50000, LONG_NS = 1000000, PATIENT_NS = 20000000 };

typedef struct summary { /* what a rank says at its end */
    uint64_t code, numbers[SMP_TEAM_NUMBERS];
} summary;

static struct {
    bool joined, agreed, at_work, speaks; /* at_work: agreed to go on, and not finished */
    pthread_mutex_t lock;                 /* of MPI */
    pthread_t server;                     /* rank 0's */
    bool serving;
    pthread_mutex_t dealing; /* of the numbers below, on rank 0 */
    uint64_t pieces, next;
    summary sum;   /* rank 0: of the others that have ended */
    int first_bad; /* the first rank whose code is in it; size: none */
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .dealing = PTHREAD_MUTEX_INITIALIZER};

/* ------------------------------------------------------------------------------------------------ messages */

/* A pause that is twice as long the next time, up to `most` nanoseconds. */
static void pause_for(long *length, long most)
{
    nanosleep(&(struct timespec){.tv_nsec = *length}, NULL);
    *length = 2 * *length < most ? 2 * *length : most;
}

static void complete(MPI_Request *request, long most)
{
    long length = SHORT_NS;
    for (int done = 0; !done;) {
        pthread_mutex_lock(&team.lock);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&team.lock);
        if (!done)
            pause_for(&length, most);
    }
}

static void send(int to, int tag, const void *data, size_t bytes)
{
    MPI_Request request;
    pthread_mutex_lock(&team.lock);
    MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&team.lock);
    complete(&request, LONG_NS);
}

static void receive(int from, int tag, void *data, size_t bytes, long most)
{
    MPI_Request request;
    pthread_mutex_lock(&team.lock);
    MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&team.lock);
    complete(&request, most);
}

/* ------------------------------------------------------------------------------------------------ joining */

static smp_code join(smp_error *err)
{
    const smp_rank told = smp_rank_of_step();
    int got = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &smp_mpi_team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &smp_mpi_team.size);
    team.joined = true;
    if (got < MPI_THREAD_SERIALIZED)
        return smp_fail(err, SMP_E_PROCESS, "this MPI does not serve programs with threads");
    if (smp_mpi_team.size == 1 && told.source[0]) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length;
        MPI_Get_library_version(library, &length);
        library[strcspn(library, ",\n")] = '\0';
        for (char *tab; (tab = strchr(library, '\t'));)
            *tab = ' ';
        team.agreed = true; /* alone as it is, it is one of several that would say the same */
        team.speaks = told.number <= 1;
        smp_fail(err, SMP_E_USAGE, "MPI finds one rank, and the job is of several (%s): each would do all files",
                 told.source);
        return smp_hint(err,
                        "start it with what belongs to its MPI (%.60s): its own mpirun, or srun --mpi=pmi2 or "
                        "--mpi=pmix",
                        library);
    }
    return SMP_OK;
}

static void *serve(void *unused);

static smp_code agree(smp_code code)
{
    const int size = smp_mpi_team.size, own = (int)code;
    int *codes = malloc((size_t)size * sizeof *codes), first = 0;
    MPI_Request request;
    if (!codes) /* as every rank of a job that cannot go on */
        MPI_Abort(MPI_COMM_WORLD, smp_exit_status(SMP_E_MEMORY));
    pthread_mutex_lock(&team.lock);
    MPI_Iallgather(&own, 1, MPI_INT, codes, 1, MPI_INT, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&team.lock);
    complete(&request, LONG_NS);
    while (first < size && codes[first] == SMP_OK)
        first++;
    const smp_code all = first < size ? (smp_code)codes[first] : SMP_OK;
    free(codes);
    team.agreed = true;
    team.speaks = first == smp_mpi_team.rank || !all;
    team.first_bad = size;
    team.at_work = !all;
    if (!all && !smp_mpi_team.rank && size > 1)
        team.serving = pthread_create(&team.server, NULL, serve, NULL) == 0;
    if (!all && !smp_mpi_team.rank && size > 1 && !team.serving)
        MPI_Abort(MPI_COMM_WORLD, smp_exit_status(SMP_E_PROCESS));
    return all;
}

/* ------------------------------------------------------------------------------------------------ dealing */

/* Rank 0: the next piece; UINT64_MAX: there is none. */
static uint64_t take(uint64_t pieces)
{
    pthread_mutex_lock(&team.dealing);
    const uint64_t piece = team.next < pieces ? team.next++ : UINT64_MAX;
    pthread_mutex_unlock(&team.dealing);
    return piece;
}

static bool deal(size_t pieces, size_t *piece)
{
    uint64_t answer = pieces;
    if (!smp_mpi_team.rank)
        answer = take(pieces);
    else {
        send(0, ASK, &answer, sizeof answer);
        receive(0, PIECE, &answer, sizeof answer, LONG_NS);
    }
    *piece = (size_t)answer;
    return answer != UINT64_MAX;
}

static void take_summary(int from, const summary *said)
{
    pthread_mutex_lock(&team.dealing);
    for (int i = 0; i < SMP_TEAM_NUMBERS; i++)
        team.sum.numbers[i] += said->numbers[i];
    if (said->code && from < team.first_bad) {
        team.first_bad = from;
        team.sum.code = said->code;
    }
    pthread_mutex_unlock(&team.dealing);
}

/* Answers one question, if there is one. *left: ranks that have not ended. */
static bool answer(int *left)
{
    MPI_Status from;
    summary said;
    uint64_t piece = 0;
    int there = 0;
    pthread_mutex_lock(&team.lock);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &from);
    if (there && from.MPI_TAG == ASK)
        MPI_Recv(&piece, sizeof piece, MPI_BYTE, from.MPI_SOURCE, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (there)
        MPI_Recv(&said, sizeof said, MPI_BYTE, from.MPI_SOURCE, FINISH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&team.lock);
    if (there && from.MPI_TAG == ASK) {
        piece = take(piece);
        send(from.MPI_SOURCE, PIECE, &piece, sizeof piece);
    } else if (there) {
        take_summary(from.MPI_SOURCE, &said);
        --*left;
    }
    return there;
}

static void *serve(void *unused)
{
    long length = SHORT_NS;
    (void)unused;
    for (int left = smp_mpi_team.size - 1; left > 0;)
        if (answer(&left))
            length = SHORT_NS;
        else
            pause_for(&length, LONG_NS);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ the end */

static smp_code finish(uint64_t *numbers, size_t count, smp_code code)
{
    summary own = {.code = code};
    memcpy(own.numbers, numbers, count * sizeof *numbers);
    team.at_work = false;
    if (smp_mpi_team.rank) {
        send(0, FINISH, &own, sizeof own);
        receive(0, END, &own, sizeof own, PATIENT_NS);
        return (smp_code)own.code;
    }
    if (team.serving)
        pthread_join(team.server, NULL);
    team.serving = false;
    take_summary(0, &own);
    memcpy(numbers, team.sum.numbers, count * sizeof *numbers);
    for (int i = 1; i < smp_mpi_team.size; i++)
        send(i, END, &team.sum, sizeof team.sum);
    return (smp_code)team.sum.code;
}

static smp_code fail_file(const char *path, bool reading, smp_error *err)
{
    char why[128];
    smp_fail(err, reading ? SMP_E_READ : SMP_E_WRITE, "cannot %s a part: %s", reading ? "read" : "keep",
             smp_os_error(errno, why, sizeof why));
    return smp_at(err, "%s", path);
}

/* Sends a file to rank 0, or nothing of it after a failure. */
static smp_code send_file(const char *path, char *chunk, smp_error *err)
{
    smp_code code = SMP_OK;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    int64_t size = end;
    if (end < 0)
        code = fail_file(path, true, err);
    send(0, FILE_SIZE, &size, sizeof size);
    for (int64_t at = 0; at < size;) {
        const int64_t left = size - at;
        const ssize_t got = pread(fd, chunk, left < CHUNK ? (size_t)left : CHUNK, (off_t)at);
        if (got <= 0) { /* what was said to come must come; its hashes tell */
            if (!code)
                code = fail_file(path, true, err);
            memset(chunk, 0, CHUNK);
        }
        const size_t bytes = got > 0 ? (size_t)got : left < CHUNK ? (size_t)left : CHUNK;
        send(0, FILE_BYTES, chunk, bytes);
        at += (int64_t)bytes;
    }
    if (fd >= 0)
        close(fd);
    return code;
}

/* A rank's file, into one of that path: an open file for each of a thousand ranks would be too many. */
static smp_code receive_file(int from, const char *path, char *chunk, smp_error *err)
{
    int64_t size = 0;
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    smp_code code = fd >= 0 ? SMP_OK : path ? fail_file(path, false, err) : smp_fail_memory(err, "a path", PATH_MAX);
    receive(from, FILE_SIZE, &size, sizeof size, PATIENT_NS);
    if (size < 0)
        code = code ? code : smp_fail(err, SMP_E_READ, "rank %d cannot read its part", from);
    for (int64_t at = 0; at < size;) {
        MPI_Status status;
        int there = 0, bytes = 0;
        long length = SHORT_NS;
        while (!there) {
            pthread_mutex_lock(&team.lock);
            MPI_Iprobe(from, FILE_BYTES, MPI_COMM_WORLD, &there, &status);
            pthread_mutex_unlock(&team.lock);
            if (!there)
                pause_for(&length, LONG_NS);
        }
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        receive(from, FILE_BYTES, chunk, (size_t)bytes, LONG_NS);
        if (!code && !smp_write_whole(fd, chunk, (size_t)bytes))
            code = fail_file(path, false, err);
        at += bytes;
    }
    if (fd >= 0 && close(fd) != 0 && !code)
        code = fail_file(path, false, err);
    return code;
}

static smp_code gather(const char *path, char **paths, smp_error *err)
{
    char *chunk = malloc(CHUNK); /* from --max-memory a rank takes what it computes with */
    smp_code code = SMP_OK;
    if (!chunk)
        MPI_Abort(MPI_COMM_WORLD, smp_exit_status(SMP_E_MEMORY));
    if (smp_mpi_team.rank)
        code = send_file(path, chunk, err);
    for (int i = 1; !smp_mpi_team.rank && i < smp_mpi_team.size; i++) {
        smp_error wrong = {.code = SMP_OK};
        paths[i] = smp_asprintf("%s.%d", path, i);
        const smp_code got = receive_file(i, paths[i], chunk, &wrong);
        if (!code && got) {
            code = got;
            *err = wrong;
        }
    }
    free(chunk);
    return code;
}

static bool leave(smp_code code)
{
    if (!team.joined) /* ranks read one command line */
        return smp_rank_of_step().number <= 1;
    if (!team.agreed)
        (void)agree(code);
    if (team.at_work) { /* the others wait for this rank */
        uint64_t none = 0;
        (void)finish(&none, 1, code);
    }
    MPI_Finalize();
    return team.speaks;
}

smp_team smp_mpi_team = {
    .size = 1, .join = join, .agree = agree, .deal = deal, .finish = finish, .gather = gather, .leave = leave};
