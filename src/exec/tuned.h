/* What `smempipe tune` found, kept in the user's cache folder: which variant, launch shapes and strip height are
 * fastest for work of a kind on a device. Plans take it with smp_tuned_apply(); no byte of any result depends on it. A
 * file that is damaged, or of another version, is as good as none. */
#ifndef SMP_EXEC_TUNED_H
#define SMP_EXEC_TUNED_H

#include "device/device.h"
#include "pipe/plan.h"

typedef struct smp_tuned_entry {
    char *device, *work;    /* keys, see below; owned */
    const smp_stage *stage; /* of a step; null: of a whole plan */
    bool measures;          /* the step is the measuring pass of its stage */
    smp_tuning tuning;      /* of a step: variant is never null */
    int64_t strip_rows;     /* of a whole plan */
    double before, after;   /* milliseconds with the defaults and with this */
} smp_tuned_entry;

typedef struct smp_tuned {
    smp_tuned_entry *entries;
    size_t count, capacity;
    char *path; /* of the file; null where there is no cache folder */
} smp_tuned;

/* Reads the user's file: $XDG_CACHE_HOME/smempipe/tuned.json, or ~/.cache/smempipe/tuned.json. No file: no entries.
 * What is damaged, outdated or nothing that this program knows is left out, and note (size bytes) gets one line about
 * it, "" when all is well. Fails for want of memory alone; free it all the same. */
smp_code smp_tuned_load(smp_tuned *tuned, char *note, size_t size, smp_error *err);
void smp_tuned_free(smp_tuned *tuned);

/* The same once more, before something is added that took its time to find: others may have written the file meanwhile. A
 * path that is null stays so, with its entries. */
smp_code smp_tuned_refresh(smp_tuned *tuned, smp_error *err);

/* Puts what was tuned for this device into the plan, and nothing where nothing was. tuned may be null. Says how many of
 * its steps, and strips, have something. */
size_t smp_tuned_apply(const smp_tuned *tuned, const smp_device *device, smp_plan *plan);

/* What entries are found by: the device with all that makes its times (name, instruction set or compute capability,
 * threads, driver); a step's stage, words that are not its defaults (arithmetic=fixed), formats, channels, size (sides to
 * the nearest power of two), reach; a whole plan's stages and size. From smp_alloc; null when memory is exhausted. */
char *smp_tuned_device_key(const smp_device *device);
char *smp_tuned_step_key(const smp_plan *plan, const smp_step *step);
char *smp_tuned_plan_key(const smp_plan *plan);

/* Replaces what is known of that device and work; an entry without variant and strip_rows: by nothing. Copies keys. */
smp_code smp_tuned_set(smp_tuned *tuned, const char *device, const char *work, const smp_tuned_entry *entry,
                       smp_error *err);

/* Writing, in two steps so that a folder that cannot be written to is said before the work: begin makes the folder and
 * opens the file beside it. SMP_E_WRITE. */
struct smp_output;
smp_code smp_tuned_begin(const smp_tuned *tuned, struct smp_output **out, smp_error *err);
smp_code smp_tuned_commit(const smp_tuned *tuned, struct smp_output *output, smp_error *err);

/* Removes the file; *there says whether there was one. */
smp_code smp_tuned_forget(const smp_tuned *tuned, bool *there, smp_error *err);

/* "tiled, 1 thread, band 16": what is tuned in a step, into text. */
void smp_tuning_text(const smp_tuning *tuning, char *text, size_t size);

#endif
