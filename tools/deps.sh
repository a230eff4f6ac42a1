#!/usr/bin/env bash
# Installs what a task needs on Debian 12, Debian 13 and Ubuntu 24.04; does nothing, and needs no
# root, where it is all there.
#
#   tools/deps.sh [--check] <set>...      sets: build, test, bench, peers, lint, fuzz
#
# --check only names what is missing; the exit status is 1 when something is.
set -euo pipefail
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # a user's PATH on Debian has no dnsmasq
export DEBIAN_FRONTEND=noninteractive

# One line per need: a probe that shows it is there in any form, then Debian's names for it, the
# preferred one first. Probes: cmd:PROGRAM, pc:PKG-CONFIG NAME, hdr:HEADER, py:PYTHON MODULE,
# fuzzer.
needs_of() {
  case $1 in
    build)
      cat <<'LIST'
cmd:make make
cmd:g++ g++
cmd:cmake cmake
cmd:ninja ninja-build
cmd:pkg-config pkg-config pkgconf
cmd:ccache ccache
pc:libfyaml libfyaml-dev
pc:fmt libfmt-dev
pc:libcrypto libssl-dev
pc:libpcre2-8 libpcre2-dev
pc:sqlite3 libsqlite3-dev
hdr:boost/json.hpp libboost-json1.81-dev libboost-json-dev
LIST
      ;;
    test)
      cat <<'LIST'
pc:gtest libgtest-dev
cmd:python3 python3
py:pytest python3-pytest
cmd:curl curl
cmd:dnsmasq dnsmasq-base
cmd:microsocks microsocks
cmd:danted dante-server
cmd:tinyproxy tinyproxy
cmd:ip iproute2
LIST
      ;;
    bench)
      cat <<'LIST'
pc:benchmark libbenchmark-dev
cmd:python3 python3
cmd:valgrind valgrind
LIST
      ;;
    peers)
      cat <<'LIST'
cmd:v2ray v2ray
cmd:ss-server shadowsocks-libev
cmd:trojan trojan
cmd:danted dante-server
cmd:microsocks microsocks
cmd:haproxy haproxy
cmd:dnsmasq dnsmasq-base
cmd:unbound unbound
cmd:wireguard-go wireguard-go
cmd:wg wireguard-tools
cmd:openvpn openvpn
cmd:iperf3 iperf3
cmd:ip iproute2
cmd:ping iputils-ping
cmd:openssl openssl
LIST
      ;;
    lint)
      # The reference version of both is 14, Debian 12's.
      cat <<'LIST'
cmd:clang-format clang-format-14 clang-format
cmd:clang-tidy clang-tidy-14 clang-tidy
pc:gtest libgtest-dev
cmd:python3 python3
LIST
      ;;
    fuzz)
      cat <<'LIST'
cmd:clang++ clang
fuzzer
cmd:python3 python3
LIST
      ;;
    *)
      echo "tools/deps.sh: no set '$1' (build, test, bench, peers, lint, fuzz)" >&2
      exit 2
      ;;
  esac
}

has_program() {
  command -v "$1" >/dev/null && return
  # Ubuntu installs the versioned names alone when a versioned package is asked for.
  case $1 in clang-format | clang-tidy) command -v "$1-14" >/dev/null ;; *) return 1 ;; esac
}

is_met() {
  case $1 in
    cmd:*) has_program "${1#cmd:}" ;;
    hdr:*) [[ -e /usr/include/${1#hdr:} || -e /usr/local/include/${1#hdr:} ]] ;;
    pc:*) command -v pkg-config >/dev/null && pkg-config --exists "${1#pc:}" ;;
    # The system's interpreter counts too: tools/test.py picks the one that has the module.
    py:*) python3 -c "import ${1#py:}" 2>/dev/null || /usr/bin/python3 -c "import ${1#py:}" 2>/dev/null ;;
    fuzzer) [[ -n $(compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer*' || true) ]] ;;
  esac
}

has_candidate() {
  local line
  line=$(apt-cache policy "$1" 2>/dev/null | grep Candidate:) || return 1
  [[ $line != *'(none)'* ]]
}

# The first of the names that apt knows, else the first.
pick_package() {
  local name
  for name in "$@"; do
    if has_candidate "$name"; then
      echo "$name"
      return
    fi
  done
  echo "$1"
}

# libFuzzer's runtime is a package of its own, named after clang's version.
fuzzer_package() {
  local major
  major=$(apt-cache depends clang 2>/dev/null | grep -oE 'clang-[0-9]+' | head -n 1 | tr -dc 0-9) || true
  echo "libclang-rt-${major:-14}-dev"
}

check_only=false
if [[ ${1:-} == --check ]]; then
  check_only=true
  shift
fi
[[ $# -gt 0 ]] || { echo "usage: tools/deps.sh [--check] <set>..." >&2; exit 2; }

unmet=()
for set_name in "$@"; do
  list=$(needs_of "$set_name")
  while read -r probe names; do
    is_met "$probe" || unmet+=("$probe $names")
  done <<<"$list"
done
[[ ${#unmet[@]} -gt 0 ]] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "Missing, and there is no apt-get here to install it; Debian's package names are:" >&2
  for need in "${unmet[@]}"; do
    read -r probe names <<<"$need"
    echo "  ${names:-libclang-rt-dev}" >&2
  done
  exit 1
fi

choose_packages() {
  local need probe names
  missing=()
  for need in "${unmet[@]}"; do
    read -r probe names <<<"$need"
    if [[ $probe == fuzzer ]]; then
      missing+=("$(fuzzer_package)")
    else
      # shellcheck disable=SC2086
      missing+=("$(pick_package $names)")
    fi
  done
  mapfile -t missing <<<"$(printf '%s\n' "${missing[@]}" | sort -u)"
}
choose_packages
echo "Missing packages: ${missing[*]}"
$check_only && exit 1

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "They need root to install, and there is no sudo here. As root:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo env "DEBIAN_FRONTEND=$DEBIAN_FRONTEND")
fi

# Installs all of them, or nothing; never at the price of removing something.
install_missing() {
  "${as_root[@]}" apt-get install -y --no-remove --no-install-recommends \
    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "${missing[@]}"
}
all_known() {
  local name
  for name in "${missing[@]}"; do has_candidate "$name" || return 1; done
}

if all_known && install_missing; then exit 0; fi
echo "Refreshing apt's package lists"
"${as_root[@]}" apt-get update
choose_packages
install_missing
