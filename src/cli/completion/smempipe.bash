# bash completion for smempipe; made by: smempipe completion bash

_smempipe_words() {
    COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# Folders, and files with one of these extensions.
_smempipe_files() {
    local file extension
    compopt -o filenames 2>/dev/null
    while IFS= read -r file; do
        extension=${file##*.}
        if [[ -z $1 || -d $file || " $1 " == *" ${extension,,} "* ]]; then
            COMPREPLY+=("$file")
        fi
    done < <(compgen -f -- "$cur")
}

_smempipe_folders() {
    local file
    compopt -o filenames 2>/dev/null
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -d -- "$cur")
}

_smempipe() {
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    local options='' takes=' ' replaces=' ' place=0 i word
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _smempipe_words '@COMMANDS@--help --version'
        return
    fi
    case $command in
@OPTIONS@
    esac
    # bash splits --option=value at the sign; a quote that was opened belongs to no word
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
    elif [[ $previous == -* && $takes != *" $previous "* ]]; then
        previous=''
    fi
    cur=${cur#[\'\"]}
    case "$command $previous" in
@VALUES@
    esac
    if [[ $cur == -* ]]; then
        _smempipe_words "$options"
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $replaces == *" $word "* && $place == 0 ]]; then place=1; replaces=' '; fi
        if [[ ${COMP_WORDS[i+1]} == = ]]; then ((i += 2)); continue; fi
        if [[ $takes == *" $word "* ]]; then ((i += 1)); continue; fi
        [[ $word == -?* ]] || ((place += 1))
    done
    case "$command $place" in
@PLACES@
    esac
}

complete -F _smempipe smempipe
