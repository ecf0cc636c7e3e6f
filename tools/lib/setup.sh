# Sourced by tools/quickstart, tools/check and tests/fresh-debian: packages, and the build directory.
# shellcheck shell=bash

clayer_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() {
    printf '==> %s\n' "$*"
}

die() { # MESSAGE... : one line to stderr, exit 1
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Lines "package purpose..." of tools/packages.txt for the given needs.
packages_for() { # NEED...
    awk -v needs=" $* " '!/^ *(#|$)/ && index(needs, " " $2 " ") {
        purpose = $3; for (i = 4; i <= NF; i++) purpose = purpose " " $i
        print $1, purpose }' "$clayer_root/tools/packages.txt"
}

# Those of the given Debian packages that are not installed.
packages_missing() { # PACKAGE...
    local installed package
    # dpkg-query fails when it has never heard of one of them; what it does know still comes.
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
    for package; do
        grep -qxF "$package installed" <<<"$installed" || echo "$package"
    done
}

print_packages() { # NEED...
    packages_for "$@" | while read -r package purpose; do
        printf '    %-20s %s\n' "$package" "$purpose" >&2
    done
}

# Makes sure that the packages for the given needs are there. Costs nothing when they are: no package list is fetched.
ensure_packages() { # NEED...
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        packages_elsewhere "$@"
        return
    fi
    local wanted missing
    mapfile -t wanted < <(packages_for "$@" | cut -d ' ' -f 1)
    ((${#wanted[@]} > 0)) || die "tools/packages.txt names no package for: $*"
    mapfile -t missing < <(packages_missing "${wanted[@]}")
    if ((${#missing[@]} == 0)); then
        return
    fi
    local as_root=(env)
    if ((EUID != 0)); then
        command -v sudo >/dev/null || {
            echo "${0##*/}: ${#missing[@]} packages are missing; to install them needs root or sudo. As root, run:" >&2
            echo "    apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
            exit 1
        }
        as_root=(sudo env)
    fi
    as_root+=(DEBIAN_FRONTEND=noninteractive)
    say "installing ${#missing[@]} packages: ${missing[*]}"
    # Without network an old list may still do, so only the install decides. Its chatter is shown when it fails.
    "${as_root[@]}" apt-get -q update >/dev/null 2>&1 || say "apt-get update failed; trying with the lists at hand"
    local log status=0
    log=$(mktemp)
    "${as_root[@]}" apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends --no-remove \
        "${missing[@]}" >"$log" 2>&1 </dev/null || status=$?
    if ((status != 0)); then
        tail -n 40 "$log" >&2
    fi
    rm -f "$log"
    ((status == 0)) || die "apt-get could not install: ${missing[*]}"
}

# Not Debian: says what to install, and goes on when the tools to build with are there.
packages_elsewhere() { # NEED...
    local tool absent=()
    for tool in "${CC:-cc}" meson ninja pkg-config python3; do
        command -v "$tool" >/dev/null || absent+=("$tool")
    done
    echo "${0##*/}: there is no apt-get here, so nothing is installed. What is needed, by its Debian name:" >&2
    print_packages "$@"
    ((${#absent[@]} == 0)) || die "not found: ${absent[*]}"
}

# Sets up a build directory, or brings an existing one's options in line, and builds.
build() { # DIRECTORY OPTION=VALUE...
    build_only "$1" all "${@:2}"
}

# The same for one target.
build_only() { # DIRECTORY TARGET OPTION=VALUE...
    local directory=$1 target=$2 option changed=()
    shift 2
    if [[ ! -f $directory/build.ninja ]]; then
        say "setting up ${directory#"$clayer_root"/}"
        # What is left of an interrupted set-up would be taken for a finished one.
        rm -rf "$directory/meson-private" "$directory/meson-info"
        meson setup "$directory" "$clayer_root" "${@/#/-D}" >"$directory.log" 2>&1 || {
            cat "$directory.log" >&2
            die "meson setup failed"
        }
        rm -f "$directory.log"
    else
        for option; do
            build_option_is "$directory" "$option" || changed+=("-D$option")
        done
        ((${#changed[@]} == 0)) || meson configure "$directory" "${changed[@]}" >/dev/null
    fi
    say "building ${directory#"$clayer_root"/}"
    ninja -C "$directory" --quiet "$target" || die "the build failed"
}

build_option_is() { # DIRECTORY OPTION=VALUE
    python3 - "$1/meson-info/intro-buildoptions.json" "$2" <<'PYTHON'
import json, sys

name, value = sys.argv[2].split("=", 1)
for option in json.load(open(sys.argv[1])):
    if option["name"] == name:
        now = option["value"]
        sys.exit(0 if (str(now).lower() if isinstance(now, bool) else str(now)) == value else 1)
sys.exit(1)
PYTHON
}
