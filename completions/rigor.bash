# Completion of rigor for bash: verbs, options and choices as --help has them, scenes, files.
_rigor() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} help choices
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        choices=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$choices --help --version" -- "$current")
        return
    fi
    help=$("$program" "$verb" --help 2>/dev/null)
    choices=$(sed -n "s/^  $previous [A-Z].*: \([a-z0-9, -]*\)\$/\1/p" <<<"$help" | tr -d ',')
    if [ -n "$choices" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
    elif [ "${current#-}" != "$current" ]; then
        choices=$(sed -n 's/^  \(--[a-z-]*\).*/\1/p' <<<"$help")
        mapfile -t COMPREPLY < <(compgen -W "$choices --help" -- "$current")
    else
        case "$verb" in
            simulate | view | rollout)
                choices=$("$program" scenes 2>/dev/null | sed -n 's/^\([a-z0-9_-]*\)  .*/\1/p') ;;
            *) choices= ;;
        esac
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current"; compgen -f -- "$current")
    fi
}
complete -o filenames -F _rigor rigor
