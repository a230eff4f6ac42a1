#!/usr/bin/env python3
"""Runs clang-tidy, with the checks of .clang-tidy, over every source in build/dev's compilation
database. A source that passed is not looked at again until it, something it includes from the tree,
its compiler flags, .clang-tidy or the clang-tidy version changes.

    tools/lint.py [--all] [file]...       --all forgets what passed before
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATABASE = os.path.join(ROOT, "build", "dev")
PASSED = os.path.join(ROOT, "build", "lint")
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.M)
# The database is g++'s: clang does not know all of its warnings, and says things of its own about
# those it knows. The compiler judges those.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error"]


class Closure:
    """What a source includes from the tree, itself too, by content."""

    def __init__(self, roots):
        self.roots = roots
        self.read = {}

    def look(self, path):
        if path not in self.read:
            with open(path, "rb") as file:
                text = file.read()
            found = []
            for name in INCLUDE.findall(text):
                for root in [os.path.dirname(path), *self.roots]:
                    candidate = os.path.normpath(os.path.join(root, name.decode()))
                    if os.path.isfile(candidate):
                        found.append(candidate)
                        break
            self.read[path] = (hashlib.sha256(text).digest(), found)
        return self.read[path]

    def digest(self, path):
        seen, queue = set(), [path]
        while queue:
            at = queue.pop()
            if at not in seen:
                seen.add(at)
                queue += self.look(at)[1]
        total = hashlib.sha256()
        for at in sorted(seen):
            total.update(os.path.relpath(at, ROOT).encode() + b"\0" + self.look(at)[0])
        return total.digest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="look at every source again")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS") or os.cpu_count()))
    parser.add_argument("files", nargs="*", help="these sources alone")
    options = parser.parse_args()
    start = time.monotonic()
    tidy = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if tidy is None:
        print("clang-tidy is not installed", file=sys.stderr)
        return 1
    version = subprocess.run([tidy, "--version"], capture_output=True, check=True).stdout
    with open(os.path.join(ROOT, ".clang-tidy"), "rb") as file:
        basis = hashlib.sha256(version + file.read() + " ".join(EXTRA).encode()).digest()
    with open(os.path.join(DATABASE, "compile_commands.json"), encoding="utf-8") as file:
        database = json.load(file)
    wanted = {os.path.abspath(f) for f in options.files}
    closure = Closure([os.path.join(ROOT, "src"), ROOT, os.path.join(DATABASE, "generated")])
    os.makedirs(PASSED, exist_ok=True)
    work, known = [], set()
    for entry in database:
        source = entry["file"]
        if not source.startswith(os.path.join(ROOT, "src") + os.sep) or (
                wanted and source not in wanted):
            continue
        flags = entry["command"].replace(ROOT, "").encode()
        key = hashlib.sha256(basis + flags + closure.digest(source)).hexdigest()
        stamp = os.path.join(PASSED, key)
        known.add(key)
        if options.all or wanted or not os.path.exists(stamp):
            work.append((source, stamp))

    def look(source, stamp):
        done = subprocess.run([tidy, "-p", DATABASE, "--quiet", "--warnings-as-errors=*", *EXTRA,
                               source], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            with open(stamp, "w", encoding="utf-8"):
                pass
            return ""
        # What it counts on standard error says nothing, unless it says it crashed.
        return done.stdout or done.stderr

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for said in pool.map(look, *zip(*work)) if work else []:
            if said:
                bad += 1
                print(said.replace(ROOT + os.sep, ""), flush=True)
    if not wanted:
        for stale in set(os.listdir(PASSED)) - known:
            os.remove(os.path.join(PASSED, stale))
    print(f"Lint: {len(work)} of {len(known)} sources looked at in "
          f"{time.monotonic() - start:.0f} s, {bad} with errors")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
