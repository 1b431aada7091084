# Sourced by the scripts: where the tree is, how it talks, which packages it needs.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

say() { printf '%s\n' "$*"; }
note() { printf '%s\n' "$*" >&2; }
die() {
  note "$0: $1"
  exit "${2:-1}"
}

# The comment at the top of a script is its help.
usage() { sed -n '2,/^[^#]/{/^#/!d;s/^# \{0,1\}//;p}' "$0"; }

# package_list SECTION...: the packages of these sections.
package_list() {
  awk -v wanted=" $* " '/^\[/ { take = index(wanted, " " substr($1, 2, length($1) - 2) " "); next }
                        take && NF && !/^#/ { print $1 }' "$root/scripts/packages.txt"
}

missing_packages() {
  local package
  for package in $(package_list "$@"); do
    case $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) in
      ii*) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# need_packages SECTION...: installs what is missing, as root or through sudo; otherwise prints the one line to run and stops.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    note "This is not a Debian system: make sure that you have what scripts/packages.txt lists."
    return
  fi
  local missing as_root=()
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      as_root=(sudo)
    else
      note "Some packages are missing. Run this as root, then start again:"
      note "  apt-get update && apt-get install -y --no-install-recommends $missing"
      exit 1
    fi
  fi
  say "Installing: $missing"
  # The lists of a fresh machine are empty or old, so the first try may fail.
  # shellcheck disable=SC2086
  apt_install "${as_root[@]}" -- $missing || {
    "${as_root[@]}" apt-get -qq update </dev/null || note "apt-get update failed; trying with what it has"
    apt_install "${as_root[@]}" -- $missing || die "these packages could not be installed: $missing"
  }
}

# apt_install [sudo] -- PACKAGE...
apt_install() {
  local prefix=()
  while [ "$1" != -- ]; do prefix+=("$1"); shift; done
  shift
  "${prefix[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends "$@" </dev/null >"$(apt_log)" 2>&1
}

apt_log() {
  mkdir -p "$root/build"
  printf '%s\n' "$root/build/apt.log"
}

# quietly LOG COMMAND...: shows the output only when the command fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null || {
    tail -n 60 "$log" >&2
    die "failed: $* (whole output: $log)"
  }
}
