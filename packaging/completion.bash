# bash completion for clayer's tools: options come from the tool's own --help, values from what they say.
_clayer() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} tool=${COMP_WORDS[0]}
    COMPREPLY=()
    case $previous in
    --device)
        mapfile -t COMPREPLY < <(compgen -W "auto gpu cpu accelerator simulator host" -- "$current")
        return
        ;;
    --input-format | --output-format)
        mapfile -t COMPREPLY < <(compgen -W "npy csv" -- "$current")
        return
        ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$tool" --help 2>/dev/null | grep -oE -- '^  (-[A-Za-z], )?--[a-z-]+' |
            grep -oE -- '--[a-z-]+')" -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _clayer clayer-query clayer-run clayer-bench clayer-tune
