#!/usr/bin/env bash
# Formats the C++ sources, or with --check fails when one is not formatted. The reference is
# clang-format 14; the output of others differs in places, so that with another version --check shows
# the differences without failing.
set -euo pipefail
cd "$(dirname "$0")/.."

program=clang-format-14
command -v "$program" >/dev/null || program=clang-format
version=$("$program" --version | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
mapfile -d '' -t files < <(find src bench tests \( -name '*.cc' -o -name '*.h' \) -print0 2>/dev/null | sort -z)

reference=true
if [[ ${version%%.*} != 14 ]]; then
  reference=false
  echo "clang-format here is $version, the reference is 14: its opinion may differ"
fi
if [[ ${1:-} != --check ]]; then
  printf '%s\0' "${files[@]}" | xargs -0 "$program" -i
elif printf '%s\0' "${files[@]}" | xargs -0 "$program" --dry-run -Werror; then
  echo "Format: ${#files[@]} files"
elif $reference; then
  echo "Not formatted: run make format" >&2
  exit 1
fi
