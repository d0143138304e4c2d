/* Accesses of shared memory that are ordered or need no order: atomics, loads that a swap tries again, acquires. */
#include <string.h>

#include "suite.h"

#include "lab_case.h"

enum { THREADS = 128 };

/* A kernel of 128 threads, of which thread 0 makes s and flag 0 before a barrier. */
static const char frame[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry op()\n{\n.reg .b32 %%r<8>; .reg .pred %%p<3>;\n"
    ".shared .align 8 .b32 s[128];\n.shared .align 8 .b32 flag;\nmov.u32 %%r0, %%tid.x; mov.u32 %%r1, 0;\n"
    "shl.b32 %%r2, %%r0, 2; mov.u32 %%r3, s; add.u32 %%r2, %%r2, %%r3; st.shared.u32 [%%r2], %%r1;\n"
    "setp.eq.u32 %%p0, %%r0, 0; @%%p0 st.shared.u32 [flag], %%r1; bar.sync 0;\n%s\nret;\n}\n";

static size_t races_of(const char *body)
{
    lab l;
    size_t races = 0;
    lab_open(&l, frame, body);
    lab_must_run(&l, body, &(smp_warp_launch){.block = {THREADS, 1, 1}, .params = ""});
    for (size_t i = 0; i < l.result.finding_count; i++)
        races += l.result.findings[i].fault == SMP_WARP_RACE;
    lab_close(&l);
    return races;
}

SMP_TEST(atomics_race_with_plain_accesses_alone)
{
    static const struct {
        const char *body;
        bool races;
    } cases[] = {
        {"atom.shared.add.u32 %r4, [s], 1;", false},
        {"atom.shared.add.u32 %r4, [s], 1; ld.shared.u32 %r5, [s];", true},
        {"atom.shared.add.u32 %r4, [s], 1; ld.relaxed.cta.shared.u32 %r5, [s];", false},
        {"atom.shared.add.u32 %r4, [s], 1; ld.volatile.shared.u32 %r5, [s];", true},
        {"st.relaxed.cta.shared.u32 [s], %r0; ld.relaxed.cta.shared.u32 %r5, [s];", false},
        {"st.relaxed.cta.shared.u32 [s], %r0; ld.shared.u32 %r5, [s];", true},
        /* max by a swap, as the programming guide has it */
        {"ld.shared.u32 %r4, [s];\nagain:\nmax.u32 %r5, %r4, %r0; mov.u32 %r6, %r4;\n"
         "atom.shared.cas.b32 %r4, [s], %r6, %r5; setp.ne.u32 %p1, %r4, %r6; @%p1 bra again;",
         false},
        {"ld.shared.u32 %r4, [s];\nagain:\nmax.u32 %r5, %r4, %r0; mov.u32 %r6, %r4;\n"
         "atom.shared.cas.b32 %r4, [s], %r6, %r5; setp.ne.u32 %p1, %r4, %r6; @%p1 bra again;\nst.shared.u32 [s], %r0;",
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if ((races_of(cases[i].body) != 0) != cases[i].races)
            fail_msg("%s %s", cases[i].body, cases[i].races ? "is a race" : "is no race");
}

/* Threads 0, 32 and 64 read s, and thread 96 updates it: it races with the plain reader, in whichever order they came.
 */
SMP_TEST(atomic_readers_hide_no_plain_one)
{
    static const char body[] = "setp.eq.u32 %%p1, %%r0, 0; @%%p1 ld%s.shared.u32 %%r5, [s];\n"
                               "setp.eq.u32 %%p1, %%r0, 32; @%%p1 ld%s.shared.u32 %%r5, [s];\n"
                               "setp.eq.u32 %%p1, %%r0, 64; @%%p1 ld%s.shared.u32 %%r5, [s];\n"
                               "setp.eq.u32 %%p1, %%r0, 96; @%%p1 atom.shared.add.u32 %%r4, [s], 1;";
    for (int plain = 0; plain <= 3; plain++) {
        const char *kind[3] = {".relaxed.cta", ".relaxed.cta", ".relaxed.cta"};
        char text[600];
        if (plain < 3)
            kind[plain] = "";
        snprintf(text, sizeof text, body, kind[0], kind[1], kind[2]);
        if (races_of(text) != (plain < 3))
            fail_msg("plain reader %d: %zu races", plain, races_of(text));
    }
}

/* Thread 0 reads s plainly and then atomically, or the other way round. */
SMP_TEST(an_atomic_read_hides_no_plain_one_of_its_thread)
{
    static const char body[] = "setp.eq.u32 %%p1, %%r0, 0; %s %s\n"
                               "setp.eq.u32 %%p1, %%r0, 96; @%%p1 atom.shared.add.u32 %%r4, [s], 1;";
    static const char plain[] = "@%p1 ld.shared.u32 %r5, [s];", atomic[] = "@%p1 ld.relaxed.cta.shared.u32 %r6, [s];";
    char text[600];
    snprintf(text, sizeof text, body, plain, atomic);
    assert_int_equal(races_of(text), 1);
    snprintf(text, sizeof text, body, atomic, plain);
    assert_int_equal(races_of(text), 1);
    snprintf(text, sizeof text, body, atomic, atomic);
    assert_int_equal(races_of(text), 0);
}

/* Thread 32 writes s plainly and updates it, and thread 64 updates it, or reads it as an atomic does. */
SMP_TEST(an_atomic_hides_no_plain_write_of_its_thread)
{
    static const char body[] = "setp.eq.u32 %%p1, %%r0, 32; @%%p1 %s.u32 [s], %%r0;\n"
                               "@%%p1 atom.shared.add.u32 %%r4, [s], 1;\nsetp.eq.u32 %%p1, %%r0, 64; @%%p1 %s;";
    static const char update[] = "atom.shared.add.u32 %r4, [s], 1", read[] = "ld.relaxed.cta.shared.u32 %r4, [s]";
    char text[600];
    snprintf(text, sizeof text, body, "st.shared", update);
    assert_int_equal(races_of(text), 1);
    snprintf(text, sizeof text, body, "st.shared", read);
    assert_int_equal(races_of(text), 1);
    snprintf(text, sizeof text, body, "st.relaxed.cta.shared", update);
    assert_int_equal(races_of(text), 0);
}

/* The same of block 1 of a cluster and block 2, that update the first one's word. */
SMP_TEST(an_atomic_of_a_cluster_hides_no_plain_write)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry op()\n{\n.reg .b32 %%r<4>; .reg .pred %%p;\n"
        ".shared .align 4 .b32 s[1];\nmov.u32 %%r0, %%cluster_ctarank; mov.u32 %%r1, s; st.shared.u32 [s], %%r0;\n"
        "barrier.cluster.arrive; barrier.cluster.wait; mapa.shared::cluster.u32 %%r2, %%r1, 0;\n"
        "setp.eq.u32 %%p, %%r0, 1; @%%p st%s.shared::cluster.u32 [%%r2], %%r0;\n"
        "setp.eq.u32 %%p, %%r0, 0; @!%%p atom.shared::cluster.add.u32 %%r3, [%%r2], 1;\n"
        "barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}\n";
    for (int plain = 0; plain < 2; plain++) {
        lab l;
        lab_open(&l, text, plain ? "" : ".relaxed.cluster");
        lab_must_run(&l, "cluster",
                     &(smp_warp_launch){.grid = {4, 1, 1}, .block = {1, 1, 1}, .cluster = {4, 1, 1}, .params = ""});
        assert_int_equal(l.result.finding_count, plain);
        lab_close(&l);
    }
}

/* Blocks of a cluster that read the first one's word before the fourth updates it hide no plain reader either. */
SMP_TEST(atomic_readers_of_a_cluster_hide_no_plain_one)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry op()\n{\n.reg .b32 %%r<4>; .reg .pred %%p;\n"
        ".shared .align 4 .b32 s[1];\nmov.u32 %%r0, %%cluster_ctarank; mov.u32 %%r1, s; st.shared.u32 [s], %%r0;\n"
        "barrier.cluster.arrive; barrier.cluster.wait; mapa.shared::cluster.u32 %%r2, %%r1, 0;\n"
        "setp.eq.u32 %%p, %%r0, 1; @%%p ld%s.shared::cluster.u32 %%r3, [%%r2];\n"
        "setp.eq.u32 %%p, %%r0, 2; @%%p ld%s.shared::cluster.u32 %%r3, [%%r2];\n"
        "setp.eq.u32 %%p, %%r0, 3; @%%p ld%s.shared::cluster.u32 %%r3, [%%r2];\n"
        "setp.eq.u32 %%p, %%r0, 4; @%%p atom.shared::cluster.add.u32 %%r3, [%%r2], 1;\n"
        "barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}\n";
    for (int plain = 1; plain <= 4; plain++) { /* 4: none */
        lab l;
        const char *kinds[5];
        for (int i = 1; i <= 4; i++)
            kinds[i] = i == plain ? "" : ".relaxed.cluster";
        lab_open(&l, text, kinds[1], kinds[2], kinds[3]);
        lab_must_run(&l, "cluster",
                     &(smp_warp_launch){.grid = {8, 1, 1}, .block = {1, 1, 1}, .cluster = {8, 1, 1}, .params = ""});
        assert_int_equal(l.result.finding_count, plain < 4);
        lab_close(&l);
    }
}

/* Thread 0 makes an mbarrier at which all arrive, and makes it again once all have. */
SMP_TEST(making_an_mbarrier_races_with_those_who_use_it)
{
    static const char body[] = "setp.eq.u32 %%p1, %%r0, 0; @%%p1 mbarrier.init.shared.b64 [s], 128;\n%s\n"
                               "mbarrier.arrive.shared.b64 _, [s];\n%s\n"
                               "@%%p1 mbarrier.inval.shared.b64 [s]; @%%p1 mbarrier.init.shared.b64 [s], 128;";
    char text[400];
    snprintf(text, sizeof text, body, "", "bar.sync 0;");
    assert_int_equal(races_of(text), 1);
    snprintf(text, sizeof text, body, "bar.sync 0;", "bar.sync 0;");
    assert_int_equal(races_of(text), 0);
}

/* Each thread writes, counts itself, waits until all are counted, and reads what another has written. */
SMP_TEST(an_acquire_sees_what_was_released)
{
    static const char body[] = "add.u32 %%r5, %%r0, 7; st.shared.u32 [%%r2], %%r5;\n"
                               "atom%s.shared.add.u32 %%r4, [flag], 1;\nwait:\nld.%s.cta.shared.u32 %%r4, [flag];\n"
                               "setp.lt.u32 %%p1, %%r4, 128; @%%p1 bra wait;\n"
                               "xor.b32 %%r6, %%r2, 128; ld.shared.u32 %%r5, [%%r6];";
    char text[512];
    snprintf(text, sizeof text, body, ".release.cta", "acquire");
    assert_int_equal(races_of(text), 0);
    snprintf(text, sizeof text, body, "", "relaxed");
    assert_int_not_equal(races_of(text), 0);
}

/* One thread a warp adds to s[0] while it holds the lock in flag. */
SMP_TEST(a_lock_orders_who_holds_it)
{
    static const char body[] = "and.b32 %%r4, %%r0, 31; setp.ne.u32 %%p0, %%r4, 0; @%%p0 ret;\n"
                               "take:\natom.shared.cas.b32 %%r4, [flag], 0, 1; setp.ne.u32 %%p1, %%r4, 0;\n"
                               "@%%p1 bra take;\n%s\n"
                               "ld.volatile.shared.u32 %%r5, [s]; add.u32 %%r5, %%r5, 1;\n"
                               "st.volatile.shared.u32 [s], %%r5;\n"
                               "membar.cta; atom.shared.exch.b32 %%r4, [flag], 0;";
    char text[700];
    snprintf(text, sizeof text, body, "membar.cta;");
    assert_int_equal(races_of(text), 0);
    snprintf(text, sizeof text, body, "");
    assert_int_not_equal(races_of(text), 0);
    snprintf(text, sizeof text, body, "fence.proxy.async.shared::cta;");
    assert_int_not_equal(races_of(text), 0);
}
