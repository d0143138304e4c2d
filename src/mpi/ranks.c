/* smempipe-mpi: smempipe whose batch and measure share a list among the ranks of an MPI job, see cli/team.h. Rank 0
 * deals pieces: a thread of it answers the others' questions while the rest of it works like them. Messages alone, no
 * one-sided operations (Open MPI 4 has none over TCP with threads); one call of MPI at a time, under a lock, which
 * MPI_THREAD_SERIALIZED allows everywhere. Nobody waits inside MPI, where waiting takes a processor: questions are
 * asked again after a pause, which grows. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/ranks.h"
#include "base/whole_file.h"
#include "cli/cli.h"
#include "cli/team.h"
#include "io/files/source.h"

enum { ASK = 1, PIECE, FILE_BYTES, FILE_SIZE }; /* tags of messages */
enum { CHUNK = 1 << 20 };                       /* bytes of a file in a message */
enum { SHORT_NS = 50000, LONG_NS = 1000000, PATIENT_NS = 20000000 };

static struct {
    bool joined, agreed, at_work, speaks; /* at_work: agreed to go on, and not finished */
    pthread_mutex_t lock;                 /* of MPI */
    pthread_t server;                     /* rank 0's, */
    bool serving;                         /* which runs */
    atomic_bool over;                     /* and ends */
    atomic_ullong next;                   /* piece, on rank 0 */
} team = {.lock = PTHREAD_MUTEX_INITIALIZER};

static smp_team smp_mpi_team;

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

/* Waits until all ranks are here. The code of the first that has one, and which that is (*first); numbers (null: none)
 * become the sums of all ranks'. most: nanoseconds between two looks. */
static smp_code meet(smp_code code, int *first, uint64_t *numbers, size_t count, long most)
{
    enum { CODES = 1 << 8 };
    uint64_t own[SMP_TEAM_NUMBERS] = {0}, sums[SMP_TEAM_NUMBERS];
    long bad = code ? (long)smp_mpi_team.rank * CODES + (long)code : LONG_MAX, least;
    MPI_Request requests[2];
    if (count)
        memcpy(own, numbers, count * sizeof *own);
    pthread_mutex_lock(&team.lock);
    MPI_Iallreduce(own, sums, SMP_TEAM_NUMBERS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&bad, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD, &requests[1]);
    pthread_mutex_unlock(&team.lock);
    complete(&requests[0], most);
    complete(&requests[1], most);
    if (count)
        memcpy(numbers, sums, count * sizeof *sums);
    *first = least == LONG_MAX ? -1 : (int)(least / CODES);
    return least == LONG_MAX ? SMP_OK : (smp_code)(least % CODES);
}

/* ------------------------------------------------------------------------------------------------ dealing */

/* Rank 0: the next piece; UINT64_MAX: there is none. */
static uint64_t take(uint64_t pieces)
{
    const uint64_t piece = atomic_fetch_add(&team.next, 1);
    return piece < pieces ? piece : UINT64_MAX;
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

/* Answers the other ranks' questions until all have met at the end. */
static void *serve(void *)
{
    long length = SHORT_NS;
    while (!team.over) {
        MPI_Status from;
        uint64_t piece = 0;
        int there = 0;
        pthread_mutex_lock(&team.lock);
        MPI_Iprobe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &there, &from);
        if (there)
            MPI_Recv(&piece, sizeof piece, MPI_BYTE, from.MPI_SOURCE, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&team.lock);
        if (!there) {
            pause_for(&length, LONG_NS);
            continue;
        }
        piece = take(piece);
        send(from.MPI_SOURCE, PIECE, &piece, sizeof piece);
        length = SHORT_NS;
    }
    return NULL;
}

static smp_code agree(smp_code code)
{
    int first;
    const smp_code all = meet(code, &first, NULL, 0, LONG_NS);
    team.agreed = true;
    team.at_work = !all;
    team.speaks = first == smp_mpi_team.rank || !all;
    if (!all && !smp_mpi_team.rank && smp_mpi_team.size > 1) {
        team.serving = pthread_create(&team.server, NULL, serve, NULL) == 0;
        if (!team.serving)
            MPI_Abort(MPI_COMM_WORLD, smp_exit_status(SMP_E_PROCESS));
    }
    return all;
}

/* ------------------------------------------------------------------------------------------------ the end */

static smp_code finish(uint64_t *numbers, size_t count, smp_code code)
{
    int first;
    team.at_work = false;
    const smp_code all = meet(code, &first, numbers, count, PATIENT_NS);
    team.over = true;
    if (team.serving)
        pthread_join(team.server, NULL);
    team.serving = false;
    return all;
}

static smp_code fail_file(const char *path, bool reading, smp_error *err)
{
    char why[128];
    smp_fail(err, reading ? SMP_E_READ : SMP_E_WRITE, "cannot %s a part: %s", reading ? "read" : "keep",
             smp_os_error(errno, why, sizeof why));
    return smp_at(err, "%s", path);
}

static size_t chunk_at(int64_t at, int64_t size)
{
    return size - at < CHUNK ? (size_t)(size - at) : CHUNK;
}

/* Sends a file to rank 0, or nothing of it after a failure. */
static smp_code send_file(const char *path, char *chunk, smp_error *err)
{
    FILE *file = fopen(path, "re");
    int64_t size = file && fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    smp_code code = size < 0 ? fail_file(path, true, err) : SMP_OK;
    if (file)
        rewind(file);
    send(0, FILE_SIZE, &size, sizeof size);
    for (int64_t at = 0; at < size; at += CHUNK) {
        const size_t bytes = chunk_at(at, size), got = fread(chunk, 1, bytes, file);
        if (got < bytes && !code) /* what was said to come must come; its hashes tell */
            code = fail_file(path, true, err);
        memset(chunk + got, 0, bytes - got);
        send(0, FILE_BYTES, chunk, bytes);
    }
    if (file)
        fclose(file);
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
    for (int64_t at = 0; at < size; at += CHUNK) {
        const size_t bytes = chunk_at(at, size);
        receive(from, FILE_BYTES, chunk, bytes, LONG_NS);
        if (!code && !smp_write_whole(fd, chunk, bytes))
            code = fail_file(path, false, err);
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

static smp_team smp_mpi_team = {
    .size = 1, .join = join, .agree = agree, .deal = deal, .finish = finish, .gather = gather, .leave = leave};

int main(int argc, char **argv)
{
    smp_cli_team = &smp_mpi_team;
    return smp_cli_main(argc, argv);
}
