#!/usr/bin/env python3
"""Builds and runs every test, and sums them up.

    tools/test.py [--only STAGE]... [--verbose]       stages: asan, e2e, bench, tsan

asan   the unit tests and the fuzz corpora under AddressSanitizer and UndefinedBehaviorSanitizer,
       and half a minute of reloads under load (tests/soak)
e2e    tests/e2e against build/release/culvert
bench  tests/bench, the benchmark harness itself
tsan   the runtime's unit tests, and reloads under load, under ThreadSanitizer

The last line is "N passed, N failed, N skipped"; the exit status is 1 when anything failed. What
cannot be built, crashes, or runs out of its time counts as failed. Skips are listed with reasons.
"""
import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "build", "test")
STAGES = ("asan", "e2e", "bench", "tsan")
LIMIT_SECONDS = {"unit_tests": 600, "fuzz_corpus": 600, "e2e": 400, "bench": 120, "soak": 240}
SOAK_SECONDS, SOAK_RELOADS = 30, 300
BUILD_LIMIT_SECONDS = 3600
PROGRESS_SECONDS = 20
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


class Tally:
    """What all stages add up to."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = []
        self.timings = []

    def fail(self, name, why):
        self.failures.append((name, why))
        print(f"FAILED {name}: {why}", flush=True)

    def skip(self, name, why):
        self.skips.append((name, " ".join(why.split())))


class Outcome:
    def __init__(self, status, timed_out, limit):
        self.status = status
        self.timed_out = timed_out
        self.limit = limit

    def describe(self):
        if self.timed_out:
            return f"not done after {self.limit} s"
        if self.status < 0:
            return f"ended by {signal.Signals(-self.status).name}"
        return f"exit status {self.status}"


def run(command, limit, on_line, env=None):
    """Runs a command in a process group of its own, at most `limit` seconds, and hands every line
    of its output to `on_line`."""
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True)
    expired = threading.Event()

    def expire():
        expired.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit, expire)
    timer.start()
    try:
        for line in process.stdout:
            on_line(line.rstrip("\n"))
        status = process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
    return Outcome(status, expired.is_set(), limit)


def show(line):
    print(line, flush=True)


def build(tally, preset, *targets):
    """True when the targets are built."""
    start = time.monotonic()
    ninja_progress = re.compile(r"^\[\d+/\d+\] ")
    pending, shown = None, start

    def on_line(line):
        # Of ninja's progress a line now and then will do, and the last.
        nonlocal pending, shown
        if not ninja_progress.match(line):
            show(line)
        elif time.monotonic() - shown > PROGRESS_SECONDS:
            show(line)
            pending, shown = None, time.monotonic()
        else:
            pending = line

    outcome = run(["tools/build.sh", preset, *targets], BUILD_LIMIT_SECONDS, on_line)
    if pending:
        show(pending)
    tally.timings.append((f"build {preset}", time.monotonic() - start))
    if outcome.status != 0:
        tally.fail(f"build {preset}", outcome.describe())
    return outcome.status == 0


def fixed_addresses():
    """A prefix that turns address randomisation off, where that is allowed: ThreadSanitizer cannot
    map its shadow on kernels with many random bits."""
    prefix = ["setarch", platform.machine(), "-R"]
    if shutil.which(prefix[0]):
        tried = subprocess.run([*prefix, "true"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=False)
        if tried.returncode == 0:
            return prefix
    return []


def run_unit_tests(tally, preset, verbose, program="unit_tests"):
    name = f"{preset}: {program}"
    report = os.path.join(OUT, f"{program}-{preset}.json")
    if os.path.exists(report):
        os.remove(report)
    current, seen = None, {"OK": 0, "FAILED": [], "SKIPPED": {}}
    said = []
    event = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w/.]+)")
    quiet = re.compile(r"^\[-+\]|^\[=+\] R|^$|^Note: Google Test filter|^Running main")

    def on_line(line):
        nonlocal current, said
        match = event.match(line)
        if match and match[1] == "RUN":
            current, said = match[2], []
        elif match and current == match[2]:
            if match[1] == "OK":
                seen["OK"] += 1
            elif match[1] == "FAILED":
                seen["FAILED"].append(current)
            else:
                seen["SKIPPED"][current] = " ".join(said[1:] or said)
            current = None
        elif current is not None:
            said.append(line)
        if verbose or not (quiet.match(line) or (match and match[1] in ("RUN", "OK"))):
            show(line)

    start = time.monotonic()
    outcome = run(
        [*fixed_addresses(), f"build/{preset}/tests/{program}",
         f"--gtest_output=json:{report}"],
        LIMIT_SECONDS["unit_tests"], on_line, ENVIRONMENT)
    tally.timings.append((name, time.monotonic() - start))
    tests = []
    try:
        with open(report, encoding="utf-8") as file:
            tests = [(f"{suite['name']}.{test['name']}", test)
                     for suite in json.load(file)["testsuites"] for test in suite["testsuite"]
                     if test["status"] == "RUN"]
    except (OSError, ValueError, KeyError):
        pass
    if not tests:
        # It ended before its summary, or ran nothing: what was seen on the way counts.
        tally.passed += seen["OK"]
        for test in seen["FAILED"]:
            tally.fail(f"{name}: {test}", "failed")
        for test, why in seen["SKIPPED"].items():
            tally.skip(f"{name}: {test}", why)
        if outcome.status == 0:
            tally.fail(name, "ran no test")
        else:
            tally.fail(f"{name}: {current}" if current else name, outcome.describe())
        return
    failed = 0
    for test_name, test in tests:
        if test.get("failures"):
            failed += 1
            tally.fail(f"{name}: {test_name}", "failed")
        elif test["result"] == "SKIPPED":
            tally.skip(f"{name}: {test_name}", seen["SKIPPED"].get(test_name, ""))
        else:
            tally.passed += 1
    if outcome.status != 0 and failed == 0:
        # A leak, say, is found after the last test.
        tally.fail(name, outcome.describe())


def run_fuzz_corpus(tally, preset):
    name = f"{preset}: fuzz_corpus"
    counted = {"PASS": 0, "FAIL": 0}
    finished = False

    def on_line(line):
        nonlocal finished
        word, _, rest = line.partition(" ")
        if word in counted:
            counted[word] += 1
            if word == "FAIL":
                tally.fail(name, rest)
                return
        finished = finished or line.startswith("fuzz: ")
        show(line)

    start = time.monotonic()
    outcome = run([*fixed_addresses(), f"build/{preset}/tests/fuzz_corpus", "tests/corpus"],
                  LIMIT_SECONDS["fuzz_corpus"], on_line, ENVIRONMENT)
    tally.timings.append((name, time.monotonic() - start))
    tally.passed += counted["PASS"]
    if not finished or (outcome.status != 0 and counted["FAIL"] == 0):
        tally.fail(name, outcome.describe())


def run_soak(tally, preset):
    """Reloads under load, half a minute of it; `make soak` takes longer."""
    name = f"{preset}: soak"
    last = ""

    def on_line(line):
        nonlocal last
        last = line
        show(line)

    start = time.monotonic()
    binary = " ".join([*fixed_addresses(), os.path.join(ROOT, f"build/{preset}/culvert")])
    outcome = run([sys.executable, "tests/soak/soak.py", "--binary", binary,
                   "--seconds", str(SOAK_SECONDS), "--reloads", str(SOAK_RELOADS)],
                  LIMIT_SECONDS["soak"], on_line, ENVIRONMENT)
    tally.timings.append((name, time.monotonic() - start))
    if outcome.status == 0:
        tally.passed += 1
    else:
        tally.fail(name, last or outcome.describe())


def python_with_pytest():
    for python in (sys.executable, "/usr/bin/python3"):
        tried = subprocess.run([python, "-c", "import pytest"], stderr=subprocess.DEVNULL,
                               check=False)
        if tried.returncode == 0:
            return python
    return None


def run_pytest(tally, name, verbose):
    """tests/<name>, with build/release/culvert as the program."""
    python = python_with_pytest()
    if python is None:
        if os.environ.get("CI") == "true":
            tally.fail(name, "pytest is not installed")
        else:
            tally.skip(name, "pytest is not installed")
        return
    report = os.path.join(OUT, f"{name}.xml")
    if os.path.exists(report):
        os.remove(report)
    command = [python, "-m", "pytest", f"tests/{name}", f"--junitxml={report}", "-p", "no:cacheprovider",
               "-v" if verbose else "-q"]
    start = time.monotonic()
    outcome = run(command, LIMIT_SECONDS[name], show,
                  {"CULVERT": os.path.join(ROOT, "build/release/culvert"), "PYTHONUNBUFFERED": "1"})
    tally.timings.append((name, time.monotonic() - start))
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        cases = []
    failed = 0
    for case in cases:
        case_name = f"{name}: {case.get('classname')}.{case.get('name')}"
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped")
        if bad is not None:
            failed += 1
            tally.fail(case_name, (bad.get("message") or "failed").splitlines()[0])
        elif skipped is not None:
            tally.skip(case_name, skipped.get("message") or "")
        else:
            tally.passed += 1
    if not cases or (outcome.status != 0 and failed == 0):
        tally.fail(name, outcome.describe() if outcome.status else "ran no test")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=STAGES, help="this stage alone")
    parser.add_argument("--verbose", action="store_true", help="every test, not only the bad ones")
    options = parser.parse_args()
    stages = options.only or STAGES
    os.makedirs(OUT, exist_ok=True)
    tally = Tally()
    for stage in stages:
        show(f"== {stage}")
        if stage == "asan" and build(tally, "asan", "unit_tests", "fuzz_corpus", "culvert"):
            run_unit_tests(tally, "asan", options.verbose)
            run_fuzz_corpus(tally, "asan")
            run_soak(tally, "asan")
        elif stage == "e2e" and build(tally, "release", "culvert"):
            run_pytest(tally, "e2e", options.verbose)
        elif stage == "bench" and build(tally, "release", "culvert", "loadgen"):
            run_pytest(tally, "bench", options.verbose)
        elif stage == "tsan" and build(tally, "tsan", "thread_tests", "culvert"):
            run_unit_tests(tally, "tsan", options.verbose, "thread_tests")
            run_soak(tally, "tsan")

    show("== summary")
    for name, seconds in tally.timings:
        show(f"{seconds:8.1f} s  {name}")
    for name, why in tally.skips:
        show(f"skipped {name}: {why or 'no reason given'}")
    for name, why in tally.failures:
        show(f"failed {name}: {why}")
    show(f"{tally.passed} passed, {len(tally.failures)} failed, {len(tally.skips)} skipped")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
