#!/usr/bin/env python3
"""Runs build/bench/micro_bench, writes bench/results/micro.json (Google Benchmark's own form) and
prints a Markdown table: the median of CPU time per iteration, its spread over the repetitions, and
what an iteration takes from the heap, beside the figures of bench/micro/targets.json.

    tools/bench_micro.py [--filter REGEX] [--repetitions N]

A figure is met when three in five repetitions meet it.
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "bench", "results", "micro.json")
TARGETS = os.path.join(ROOT, "bench", "micro", "targets.json")
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


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


def limit_of(target, medians):
    """The target in nanoseconds, and as text; None where what it compares with was not run."""
    limit = target["limit"]
    if "ns" in limit:
        return limit["ns"], f"<= {time_text(limit['ns'])}"
    plus = limit.get("plus_ns", 0)
    text = f"<= {limit['times']:.3g} x {limit['of']}" + (f" + {plus} ns" if plus else "")
    basis = medians.get(limit["of"])
    return (None if basis is None else limit["times"] * basis + plus), text


def verdict(times, allocs, target, limit):
    if limit is None:
        return "?"
    if allocs is not None and allocs > target.get("allocs", allocs):
        return "no (alloc)"
    return "yes" if 5 * sum(t <= limit for t in times) >= 3 * len(times) else "no"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default=".", help="benchmarks whose names match")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--min-time", type=float, default=0.2, help="seconds a repetition lasts")
    options = parser.parse_args()
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    print(f"Running micro_bench: {options.repetitions} repetitions on one CPU", flush=True)
    done = subprocess.run(
        [os.path.join(ROOT, "build/bench/micro_bench"), f"--benchmark_filter={options.filter}",
         f"--benchmark_repetitions={options.repetitions}",
         f"--benchmark_min_time={options.min_time}", "--benchmark_enable_random_interleaving=true",
         f"--benchmark_out={RESULTS}", "--benchmark_out_format=json",
         f"--benchmark_context=commit={commit()}", "--benchmark_context=preset=bench"],
        stdout=subprocess.DEVNULL, preexec_fn=one_cpu, check=False)
    if done.returncode != 0:
        return 1
    with open(RESULTS, encoding="utf-8") as file:
        runs = [r for r in json.load(file)["benchmarks"] if r["run_type"] == "iteration"]
    with open(TARGETS, encoding="utf-8") as file:
        targets = json.load(file)
    times = collections.defaultdict(list)
    heap = {}
    for run in runs:
        if not run.get("error_occurred"):
            times[run["run_name"]].append(run["cpu_time"] * NANOSECONDS[run["time_unit"]])
            heap[run["run_name"]] = (run.get("allocs"), run.get("bytes"))
    medians = {name: statistics.median(t) for name, t in times.items()}
    rows = [("benchmark", "median", "spread", "allocs", "bytes", "target", "met", "published")]
    for name, median in sorted(medians.items()):
        allocs, size = heap[name]
        spread = (max(times[name]) - min(times[name])) / median
        row = [name, time_text(median), f"{100 * spread:.0f} %",
               "" if allocs is None else f"{allocs:g}", "" if size is None else f"{size:g}"]
        if name in targets:
            limit, text = limit_of(targets[name], medians)
            row += [text, verdict(times[name], allocs, targets[name], limit),
                    targets[name]["published"]]
        rows.append((row + [""] * 8)[:8])
    widths = [max(len(row[i]) for row in rows) for i in range(8)]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    left = len(set(targets) - set(medians))
    if options.filter == "." and left:
        print(f"{left} figures of bench/micro/targets.json have no benchmark")
    print(f"Written to {os.path.relpath(RESULTS, ROOT)}")
    return 0 if rows[1:] else 1


if __name__ == "__main__":
    sys.exit(main())
