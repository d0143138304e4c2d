/* Completion for bash. Needs nothing but bash itself (4 or later). */
#include "cli/completion/completion.h"

static const char prologue[] =
    "# bash completion for smempipe; made by: smempipe completion bash\n"
    "\n"
    "_smempipe_words() {\n"
    "    COMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n"
    "}\n"
    "\n"
    "# Folders, and files with one of these extensions.\n"
    "_smempipe_files() {\n"
    "    local file extension\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r file; do\n"
    "        extension=${file##*.}\n"
    "        if [[ -z $1 || -d $file || \" $1 \" == *\" ${extension,,} \"* ]]; then\n"
    "            COMPREPLY+=(\"$file\")\n"
    "        fi\n"
    "    done < <(compgen -f -- \"$cur\")\n"
    "}\n"
    "\n"
    "_smempipe_folders() {\n"
    "    local file\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r file; do COMPREPLY+=(\"$file\"); done < <(compgen -d -- \"$cur\")\n"
    "}\n"
    "\n"
    "_smempipe() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
    "    local options='' takes=' ' replaces=' ' place=0 i word\n"
    "    COMPREPLY=()\n";

/* Options of a command, each followed by a blank. */
static void put_names(FILE *to, const smp_command *command, bool (*wanted)(const smp_option *option))
{
    const smp_option *row;
    for (size_t i = 0; (row = smp_command_option(command, i, NULL)); i++) {
        if (wanted && !wanted(row))
            continue;
        fprintf(to, "--%s ", row->name);
        if (row->letter)
            fprintf(to, "-%c ", row->letter);
    }
}

static bool replaces_argument(const smp_command *command, const smp_option *option)
{
    for (const smp_argument_row *row = command->arguments; row && row->name; row++)
        if (smp_argument_unless(row, option->name))
            return true;
    return false;
}

static const smp_completion_texts texts = {.words = {"_smempipe_words '", "'"},
                                           .media = {"_smempipe_files '", " ", "'"},
                                           .pipe = "_smempipe_files pipe",
                                           .file = "_smempipe_files ''",
                                           .folder = "_smempipe_folders",
                                           .nothing = ":"};

/* One arm for each option with a value, and for each place of an argument. */
static smp_code put_values(FILE *to, const smp_command *command, smp_error *err)
{
    const smp_option *row;
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && (row = smp_command_option(command, i, NULL)); i++) {
        if (row->type == SMP_O_FLAG)
            continue;
        fprintf(to, "        '%s --%s'", command->name, row->name);
        if (row->letter)
            fprintf(to, "|'%s -%c'", command->name, row->letter);
        fputs(") ", to);
        code = smp_put_values(to, &texts, row, err);
        fputs("; return ;;\n", to);
    }
    return code;
}

static smp_code put_places(FILE *to, const smp_command *command, smp_error *err)
{
    int place = 0;
    smp_code code = SMP_OK;
    for (const smp_argument_row *row = command->arguments; !code && row && row->name; row++, place++) {
        fprintf(to, "        '%s '%s) ", command->name, row->many ? "*" : place == 0 ? "0" : place == 1 ? "1" : "2");
        code = smp_put_arguments(to, &texts, row, err);
        fputs(" ;;\n", to);
    }
    return code;
}

smp_code smp_completion_bash(FILE *to, smp_error *err)
{
    smp_code code = SMP_OK;
    fputs(prologue, to);
    fputs("    if ((COMP_CWORD == 1)); then\n        _smempipe_words '", to);
    for (size_t i = 0; i < smp_command_count(); i++)
        fprintf(to, "%s ", smp_command_at(i)->name);
    fputs("--help --version'\n        return\n    fi\n    case $command in\n", to);
    for (size_t i = 0; i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        fprintf(to, "        %s)\n            options='", command->name);
        put_names(to, command, NULL);
        fputs("'\n            takes=' ", to);
        put_names(to, command, smp_option_takes_word);
        fputs("'\n            replaces=' ", to);
        const smp_option *row;
        for (size_t k = 0; (row = smp_command_option(command, k, NULL)); k++)
            if (replaces_argument(command, row)) {
                fprintf(to, "--%s ", row->name);
                if (row->letter)
                    fprintf(to, "-%c ", row->letter);
            }
        fputs("' ;;\n", to);
    }
    fputs("    esac\n"
          "    # bash splits --option=value at the sign; a quote that was opened belongs to no word\n"
          "    if [[ $cur == = ]]; then\n"
          "        cur=''\n"
          "    elif [[ $previous == = ]]; then\n"
          "        previous=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    elif [[ $previous == -* && $takes != *\" $previous \"* ]]; then\n"
          "        previous=''\n"
          "    fi\n"
          "    cur=${cur#[\\'\\\"]}\n"
          "    case \"$command $previous\" in\n",
          to);
    for (size_t i = 0; !code && i < smp_command_count(); i++)
        code = put_values(to, smp_command_at(i), err);
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        _smempipe_words \"$options\"\n"
          "        return\n"
          "    fi\n"
          "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
          "        word=${COMP_WORDS[i]}\n"
          "        if [[ $replaces == *\" $word \"* && $place == 0 ]]; then place=1; replaces=' '; fi\n"
          "        if [[ ${COMP_WORDS[i+1]} == = ]]; then ((i += 2)); continue; fi\n"
          "        if [[ $takes == *\" $word \"* ]]; then ((i += 1)); continue; fi\n"
          "        [[ $word == -?* ]] || ((place += 1))\n"
          "    done\n"
          "    case \"$command $place\" in\n",
          to);
    for (size_t i = 0; !code && i < smp_command_count(); i++)
        code = put_places(to, smp_command_at(i), err);
    fputs("    esac\n}\n\ncomplete -F _smempipe smempipe\n", to);
    return code;
}
