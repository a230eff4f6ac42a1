#!/usr/bin/env bash
# Configures a CMake preset and builds targets of it below build/<preset>, through ccache where it
# is installed. Without a target it only configures, which checks the layers too.
#
#   tools/build.sh <preset> [<target>...]       JOBS, default one per CPU
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:?usage: tools/build.sh <preset> [<target>...]}
shift
# The same source in another folder is the same source to ccache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

# Quiet when all is well: the log is shown when configuring fails.
mkdir -p build
log=build/configure-$preset.log
if ! cmake --preset "$preset" "${launcher[@]}" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
grep -E 'Layers:|linking the shared' "$log" || true
[[ $# -eq 0 ]] || cmake --build "build/$preset" --parallel "${JOBS:-$(nproc)}" --target "$@"
