# Sourced by the deep commands here that run test programs: a build, and a home of their own.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/setup.sh"

# Builds, and makes $work, a folder that is gone when the command ends. The user's own caches, records and choices must
# not decide what is tested, nor be changed.
prepare() {
    ensure_packages run build test
    build "$clayer_root/build" tests=enabled
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/vendors"
    export XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config
    unset CLAYER_DEVICE CLAYER_PLAN CLAYER_CACHE CLAYER_LOG CLAYER_OPENCL CLAYER_TABLE CLAYER_TABLE_WITHOUT \
        CLAYER_TABLE_PLATFORM OCL_ICD_VENDORS
    table=$clayer_root/build/tests/test-table
}

# Runs a test program and shows what it says, without the compilers' "1 warning generated."; its exit code is kept.
run_program() { # SECONDS PROGRAM ARGUMENT...
    local seconds=$1 status=0
    shift
    timeout "$seconds" "$@" >"$work/output" 2>&1 || status=$?
    grep -v -e '^$' -e 'warnings\? generated\.$' "$work/output" || true
    ((status != 124)) || die "${*##*/} did not end within $seconds seconds"
    return "$status"
}
