#!/usr/bin/env python3
"""Runs every libFuzzer program of build/fuzz for a while, as many at once as there are CPUs.

    tools/fuzz.py [--seconds N] [name]...

Seeds come from tests/corpus/<name>; what it finds new is kept in build/fuzz/corpus/<name>, inputs
that crash, hang or eat memory in build/fuzz/artifacts/. Exits 1 when there is one.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "fuzz")
PROGRAMS = os.path.join(BUILD, "tests", "fuzz")
INPUT_SECONDS = 10
INPUT_MEMORY_MB = 1024


def fuzz(name, seconds):
    corpus = os.path.join(BUILD, "corpus", name)
    artifacts = os.path.join(BUILD, "artifacts")
    log_path = os.path.join(BUILD, f"{name}.log")
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(artifacts, exist_ok=True)
    seeds = os.path.join(ROOT, "tests", "corpus", name)
    with open(log_path, "w", encoding="utf-8") as log:
        status = subprocess.run(
            [os.path.join(PROGRAMS, f"fuzz_{name}"), f"-max_total_time={seconds}",
             f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={INPUT_MEMORY_MB}", "-max_len=65536",
             "-print_final_stats=1", f"-artifact_prefix={artifacts}/{name}-", corpus,
             *([seeds] if os.path.isdir(seeds) else [])],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False,
            env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}).returncode
    with open(log_path, encoding="utf-8", errors="replace") as log:
        text = log.read()

    def last(pattern):
        found = re.findall(pattern, text)
        return found[-1] if found else "?"

    print(f"{'ok' if status == 0 else 'FAILED':6} {name:24} {last(r'number_of_executed_units: (.+)'):>10}"
          f" runs {last(r'cov: ([0-9]+)'):>6} edges {last(r'peak_rss_mb: (.+)'):>5} MB", flush=True)
    if status != 0:
        print("\n".join(text.splitlines()[-60:]), flush=True)
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="time for each program")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS") or os.cpu_count()))
    parser.add_argument("names", nargs="*", help="these fuzz entries alone")
    options = parser.parse_args()
    names = options.names or sorted(f.removeprefix("fuzz_") for f in os.listdir(PROGRAMS)
                                    if f.startswith("fuzz_"))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        good = list(pool.map(lambda name: fuzz(name, options.seconds), names))
    print(f"Fuzz: {len(names)} entries, {good.count(False)} failed; logs and finds are in build/fuzz/")
    return 0 if names and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
