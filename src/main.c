/* smempipe: picks the subcommand, parses its command line, says what went wrong, and turns codes into exit statuses. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "pipe/diag.h"

enum { MAX_COMMANDS = 64 };

/* Files opened later must not land on descriptors 0 to 2 that the caller closed. What takes their place is open the
 * wrong way round, so that using it fails as the closed one would. */
static void open_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

static smp_code fail_command(const char *name, smp_error *err)
{
    const char *names[MAX_COMMANDS];
    size_t count = 0, length = strlen(name);
    for (; count < MAX_COMMANDS && count < smp_command_count(); count++)
        names[count] = smp_command_at(count)->name;
    const char *near = smp_nearest(name, length, names, count);
    if (name[0] == '-') {
        smp_fail(err, SMP_E_USAGE, "unknown option '%s'", name);
        return smp_hint(err, "options follow a command: smempipe COMMAND [options] ...");
    }
    smp_fail(err, SMP_E_USAGE, "unknown command '%s'", name);
    if (near)
        return smp_hint(err, "did you mean '%s'?", near);
    if (length > 5 && !strcmp(name + length - 5, ".pipe"))
        return smp_hint(err, "smempipe run %s IN OUT", name);
    return smp_hint(err, "smempipe help lists the commands");
}

static smp_code run_command(const smp_command *command, int argc, char **argv, smp_common **common, smp_error *err)
{
    bool chunks;
    smp_code code;
    void *settings = smp_alloc(command->settings_size);
    if (!settings)
        return smp_fail_memory(err, "settings", command->settings_size);
    code = smp_options_parse(command, argc, argv, settings, &chunks, err);
    **common = *(smp_common *)settings;
    if (!code && (*common)->help)
        smp_help_command(stdout, command);
    else if (!code && (*common)->version)
        puts("smempipe " SMP_VERSION);
    else if (!code) {
        smp_alloc_limit((*common)->limits.max_memory);
        code = command->run(settings, err);
    }
    smp_options_free(command, settings);
    smp_free(settings);
    return code;
}

int main(int argc, char **argv)
{
    smp_common settings = {0}, *common = &settings;
    smp_error err = {0}, close_err = {0};
    smp_code code = SMP_OK;
    open_standard_files();
    smp_cli_catch_signals();
    if (argc < 2) {
        smp_help_short(stderr);
        return smp_exit_status(SMP_E_USAGE);
    }
    const smp_command *command = smp_command_find(argv[1]);
    if (command)
        code = run_command(command, argc - 2, argv + 2, &common, &err);
    else if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        smp_help_overview(stdout);
    else if (!strcmp(argv[1], "--version"))
        puts("smempipe " SMP_VERSION);
    else
        code = fail_command(argv[1], &err);
    smp_cli_error(common, &err);
    smp_code closed = smp_cli_close_stdout(&close_err);
    if (closed && (!code || code == SMP_E_DIFFERENT)) { /* what differs was to be said there */
        smp_cli_error(common, &close_err);
        code = closed;
    }
    return smp_exit_status(code);
}
