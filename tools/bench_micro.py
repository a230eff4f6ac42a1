#!/usr/bin/env python3
"""Runs build/bench/micro_bench, twice: for the times, repeated, and under callgrind for the number
of instructions, which is the same each time. Prints a Markdown table beside the figures of
bench/micro/targets.json and writes, below bench/results,

    micro.json           the times in Google Benchmark's own form
    micro-summary.json   the table

(with --filter, micro-some.json and micro-some-summary.json)

    tools/bench_micro.py [--filter REGEX] [--repetitions N] [--no-instructions]

When the calibration row wanders, the machine is too noisy for a row to be called lost: it is marked
noisy instead, and the exit status is 3.

A row is met when three in five repetitions meet its limit; a limit that is another row's time is
that row's in the same repetition. The rows that encrypt are not run under callgrind: OpenSSL picks
other code for the CPU that it shows than for the real one.
"""
import argparse
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BINARY = os.path.join(ROOT, "build", "bench", "micro_bench")
RESULTS = os.path.join(ROOT, "bench", "results")
TARGETS = os.path.join(ROOT, "bench", "micro", "targets.json")
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# Always run: how quiet the machine is.
CALIBRATION = "memcpy_16k"
NOISY = 0.3
REFUSED = 3
# What goes before and behind a loop is nothing beside as many instructions.
BIG = 1e6
NOT_UNDER_CALLGRIND = ("aead_", "tls_")


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    return done.stdout.strip() or "unknown"


def one_cpu():
    # The last one: interrupts prefer the first.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def time_text(ns):
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns:.3g} ns"


def exactly(names):
    return "^(" + "|".join(sorted(names)) + ")$"


def filter_of(wanted, targets):
    """The rows that are wanted, and those that they are compared with."""
    if wanted == ".":
        return wanted
    bases = {t["limit"]["of"] for name, t in targets.items()
             if "of" in t["limit"] and re.search(wanted, name)}
    return f"{wanted}|{exactly(bases | {CALIBRATION})}"


# ---------------------------------------------------------------- running


def measure_times(options, wanted, path):
    """{name: {"times": [ns by repetition], "runs": [as Google Benchmark tells them]}}, or None."""
    print(f"Running micro_bench: {options.repetitions} repetitions on one CPU", flush=True)
    done = subprocess.run(
        [BINARY, f"--benchmark_filter={wanted}", f"--benchmark_repetitions={options.repetitions}",
         f"--benchmark_min_time={options.min_time}", "--benchmark_enable_random_interleaving=true",
         f"--benchmark_out={path}", "--benchmark_out_format=json",
         f"--benchmark_context=commit={commit()}", "--benchmark_context=preset=bench"],
        stdout=subprocess.DEVNULL, preexec_fn=one_cpu, check=False)
    if done.returncode != 0:
        return None
    with open(path, encoding="utf-8") as file:
        runs = [r for r in json.load(file)["benchmarks"] if r["run_type"] == "iteration"]
    rows = collections.defaultdict(lambda: {"times": [], "runs": []})
    for run in sorted(runs, key=lambda r: r["repetition_index"]):
        if run.get("error_occurred"):
            continue
        row = rows[run["run_name"]]
        row["times"].append(run["cpu_time"] * NANOSECONDS[run["time_unit"]])
        row["runs"].append(run)
    return dict(rows)


def read_dumps(path):
    """{number of the dump: (iterations, instructions)} of a file of combined dumps."""
    dumps = {}
    label = None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("desc: Trigger: Client Request: "):
                label = line.rsplit(" ", 1)[1].strip()
            elif line.startswith(("summary:", "totals:")) and label is not None:
                number, iterations = label.split("/")
                dumps[int(number)] = (int(iterations), int(line.split()[1]))
                if line.startswith("totals:"):
                    label = None
    return dumps


def per_operation(runs):
    """Instructions per iteration out of {iterations: instructions}; None when there are too few
    runs to tell. Google Benchmark tries few iterations first and then more; the two longest runs
    differ by iterations alone, whatever goes before the first iteration and behind the last."""
    if len(runs) == 1:
        (n, count), = runs.items()
        return count / n if count > BIG * n else None
    low, high = sorted(runs)[-2:]
    return (runs[high] - runs[low]) / (high - low)


def callgrind(names, min_time):
    """{name: {iterations: instructions}}"""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        done = subprocess.run(
            ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}",
             "--combine-dumps=yes", "--dump-line=no", "--instr-atstart=no", BINARY,
             f"--benchmark_filter={exactly(names)}", f"--benchmark_min_time={min_time}",
             "--benchmark_format=json"],
            # Binding a function when it is first called would count for its first caller.
            env=dict(os.environ, LD_BIND_NOW="1"), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"Failed under callgrind: {done.stderr.strip()[-500:]}")
            return {}
        dumps = read_dumps(out) if os.path.exists(out) else {}
    counts = {}
    first = 0
    for run in json.loads(done.stdout)["benchmarks"]:
        if "dumps" in run:
            # A row's dumps are the ones since the row before.
            last = int(run["dumps"])
            counts[run["run_name"]] = dict(dumps[n] for n in range(first, last) if n in dumps)
            first = last
    return counts


def count_instructions(names):
    """{name: instructions per iteration}; empty where valgrind is not installed."""
    left = {n for n in names if not n.startswith(NOT_UNDER_CALLGRIND)}
    if shutil.which("valgrind") is None:
        print("No valgrind here: instructions are not counted")
        return {}
    print(f"Counting the instructions of {len(left)} rows", flush=True)
    found = {}
    # A run's time is mostly callgrind's own at first: a row that had one run only has another go.
    for min_time in (0.05, 0.5):
        if left:
            for name, runs in callgrind(left, min_time).items():
                count = per_operation(runs) if runs else None
                if count is not None:
                    found[name] = round(count, 1)
            left -= set(found)
    return found


# ---------------------------------------------------------------- judging


def target_text(target):
    limit = target["limit"]
    if "ns" in limit:
        text = f"<= {time_text(limit['ns'])}"
    else:
        text = f"<= {limit['times']:.3g} x {limit['of']}"
        if "plus_ns" in limit:
            text += f" + {limit['plus_ns']} ns"
    for name, most in at_most(target).items():
        text += f", {name} <= {most:g}"
    return text


def at_most(target):
    bounds = dict(target.get("at_most", {}))
    if "allocs" in target:
        bounds["allocs"] = target["allocs"]
    return bounds


def limits_of(target, rows, repetitions):
    """The limit of each repetition in nanoseconds; None where what it compares with was not run."""
    limit = target["limit"]
    if "ns" in limit:
        return [limit["ns"]] * repetitions
    if limit["of"] not in rows:
        return None
    basis = rows[limit["of"]]["times"]
    if len(basis) != repetitions:
        basis = [statistics.median(basis)] * repetitions
    return [limit["times"] * t + limit.get("plus_ns", 0) for t in basis]


def counter(row, name):
    """The median over the repetitions; None where the benchmark does not have it."""
    values = [run[name] for run in row["runs"] if name in run]
    return statistics.median(values) if values else None


def beyond(row, target):
    """The counters that are more than they may be, as text."""
    values = ((name, counter(row, name), most) for name, most in at_most(target).items())
    return ", ".join(f"{name} {value:.3g}" for name, value, most in values
                     if value is not None and value > most)


def judge(row, target, limits):
    if limits is None:
        return None
    if beyond(row, target):
        return False
    times = row["times"]
    return 5 * sum(t <= limit for t, limit in zip(times, limits)) >= 3 * len(times)


def summarize(rows, instructions, targets, wanted):
    names = [n for n in targets if n in rows or re.search(wanted, n)]
    names += sorted(set(rows) - set(targets))
    out = []
    for name in names:
        target = targets.get(name)
        entry = {"name": name, "median_ns": None, "min_ns": None, "max_ns": None, "times_ns": [],
                 "allocs": None, "bytes": None, "instructions": None,
                 "target_text": target_text(target) if target else "", "limit_ns": None,
                 "met": None, "published": target["published"] if target else "",
                 "built": name in rows}
        if name in rows:
            times = [round(t, 3) for t in rows[name]["times"]]
            entry.update(median_ns=statistics.median(times), min_ns=min(times), max_ns=max(times),
                         times_ns=times, allocs=counter(rows[name], "allocs"),
                         bytes=counter(rows[name], "bytes"),
                         instructions=instructions.get(name))
        if target:
            limits = limits_of(target, rows, len(entry["times_ns"]) or 1)
            entry["limit_ns"] = None if limits is None else round(statistics.median(limits), 3)
            if name in rows:
                entry["met"] = judge(rows[name], target, limits)
                entry["beyond"] = beyond(rows[name], target)
        out.append(entry)
    return out


def noise_of(summary):
    """Why times cannot be trusted; empty when they can."""
    for entry in summary:
        if entry["name"] == CALIBRATION:
            spread = (entry["max_ns"] - entry["min_ns"]) / entry["median_ns"]
            if spread > NOISY:
                return (f"{CALIBRATION} took {time_text(entry['min_ns'])} to "
                        f"{time_text(entry['max_ns'])}; something else is using the machine")
    return ""


def cells(entry):
    def number(value):
        return "" if value is None else f"{value:g}" if value < 100 else f"{value:,.0f}"

    if not entry["built"]:
        return [entry["name"], "not built yet", "", "", "", "", entry["target_text"], "",
                entry["published"]]
    spread = (entry["max_ns"] - entry["min_ns"]) / entry["median_ns"]
    met = {True: "yes", False: "no", None: "?" if entry["target_text"] else ""}[entry["met"]]
    if entry["noisy"]:
        met = "? (noisy)"
    if entry.get("beyond"):
        met += f" ({entry['beyond']})"
    return [entry["name"], time_text(entry["median_ns"]), f"{100 * spread:.0f} %",
            number(entry["allocs"]), number(entry["bytes"]), number(entry["instructions"]),
            entry["target_text"], met, entry["published"]]


def print_table(summary):
    table = [["benchmark", "median", "spread", "allocs", "bytes", "instr/op", "target", "met",
              "published"]] + [cells(entry) for entry in summary]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for number, row in enumerate(table):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default=".", help="benchmarks whose names match")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--min-time", type=float, default=0.12, help="seconds a repetition lasts")
    parser.add_argument("--no-instructions", action="store_true", help="only the times")
    options = parser.parse_args()
    os.makedirs(RESULTS, exist_ok=True)
    kind = "micro" if options.filter == "." else "micro-some"
    path = os.path.join(RESULTS, f"{kind}.json")
    summary_path = os.path.join(RESULTS, f"{kind}-summary.json")
    with open(TARGETS, encoding="utf-8") as file:
        targets = json.load(file)
    rows = measure_times(options, filter_of(options.filter, targets), path)
    if not rows:
        return 1
    instructions = {} if options.no_instructions else count_instructions(rows)
    summary = summarize(rows, instructions, targets, options.filter)
    noise = noise_of(summary)
    for entry in summary:
        # What is lost by its counters is lost all the same.
        entry["noisy"] = bool(noise) and entry["met"] is False and not entry.get("beyond")
        if entry["noisy"]:
            entry["met"] = None
    with open(summary_path, "w", encoding="utf-8") as file:
        # A row a line.
        lines = ",\n".join("  " + json.dumps(entry) for entry in summary)
        file.write(f'{{"commit": {json.dumps(commit())}, "rows": [\n{lines}\n]}}\n')
    if noise:
        print(f"noisy: {noise}")
    print_table(summary)
    judged = [e for e in summary if e["target_text"] and e["built"]]
    print(f"{sum(e['met'] is True for e in judged)} of {len(judged)} figures met, "
          f"{sum(not e['built'] for e in summary)} not built yet")
    print(f"Written to {os.path.relpath(path, ROOT)} and {os.path.relpath(summary_path, ROOT)}")
    return REFUSED if any(entry["noisy"] for entry in summary) else 0


if __name__ == "__main__":
    sys.exit(main())
