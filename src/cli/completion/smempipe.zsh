#compdef smempipe
# zsh completion for smempipe; made by: smempipe completion zsh

_smempipe() {
    local curcontext="$curcontext" state line
    typeset -A opt_args
    local -a commands
    commands=(
@COMMANDS@
    )
    _arguments -C '(- *)'{-h,--help}'[commands, topics and stages]' '(- *)--version[show the version]' \
        '1: :->command' '*:: :->rest'
    case $state in
    command) _describe -t commands 'command' commands ;;
    rest)
        case $words[1] in
@ARGUMENTS@
        esac ;;
    esac
    return 1
}

if [ "$funcstack[1]" = _smempipe ]; then
    _smempipe "$@"
else
    compdef _smempipe smempipe
fi
