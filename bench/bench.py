#!/usr/bin/env python3
"""Whole processes side by side: Culvert, what people run today, and no proxy at all.

    bench/bench.py quick                 the rows of `make bench`
    bench/bench.py full                  every row, every peer
    bench/bench.py row NAME...           runs or rows by name (bench/bench.py list), micro rows too
    bench/bench.py ab BASE [NAME...]     this tree against a commit
    bench/bench.py compare A.json B.json how far two results lie apart
    bench/bench.py judge A.json          a result by the limits and the gate as they are now
    bench/bench.py publish               docs/performance.md and its charts from the full result
    bench/bench.py smoke                 one round trip through every peer
    bench/bench.py list                  rows, and the peers that are there

Results go to bench/results/, as JSON and as Markdown. The exit status is 3 when the stability gate
refused a row, 1 when something failed.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from system import ab, gate, loads, peers, processes, publish, report, runner  # noqa: E402

REFUSED = 3


def previous_best():
    path = os.path.join(report.RESULTS, "full.json")
    return report.best_peers(report.load(path)) if os.path.exists(path) else {}


def finish(session, only=None):
    path, result = report.save(session)
    measured = {r["run"] for r in session.records} | set(session.refused)
    shown = only or [row["row"] for run in runner.read_runs() for row in run["rows"]
                     if run["run"] in measured or "scenario" not in run]
    text = report.markdown(result["summary"], shown)
    table = path.replace(".json", ".md")
    with open(table, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    print(text)
    print(f"\nWritten to {os.path.relpath(path, report.ROOT)} and "
          f"{os.path.relpath(table, report.ROOT)}")
    failed = any(("error" in r or r.get("failed")) and r["participant"].startswith(runner.CULVERT)
                 for r in session.records)
    return REFUSED if session.refused else 1 if failed else 0


def run_session(scale, runs, only=None):
    session = runner.Session(scale, previous_best() if scale.best_only else {})
    try:
        gate.require_quiet()
    except gate.TooNoisy as error:
        print(f"refused: {error}")
        return REFUSED
    for run in runs:
        session.measure(run)
    return finish(session, only)


def micro_targets():
    with open(os.path.join(report.ROOT, "bench", "micro", "targets.json"), encoding="utf-8") as file:
        return set(json.load(file))


def micro_names():
    return {name.split("/")[0] for name in micro_targets()}


def run_micro(name):
    for command in (["tools/build.sh", "bench", "micro_bench"],
                    ["tools/bench_micro.py", "--filter", f"^{re.escape(name)}(/|$)|^memcpy"]):
        done = subprocess.run(command, cwd=report.ROOT, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


def command_row(names):
    runs = runner.read_runs()
    chosen, only = [], []
    for name in [n for n in names if n in micro_names()]:
        status = run_micro(name)
        if status != 0 or len(names) == 1:
            return status
    for name in [n for n in names if n not in micro_names()]:
        found = [(run, row["row"]) for run in runs for row in run["rows"]
                 if name in (run["run"], row["row"])]
        if not found:
            print(f"no row '{name}'; there are: "
                  + ", ".join(row["row"] for run in runs for row in run["rows"]))
            return 2
        for run, row in found:
            only.append(row)
            if run not in chosen:
                chosen.append(run)
    return run_session(runner.ROW, chosen, only)


def command_list():
    for run in runner.read_runs():
        needs = f"  (not built yet: {run['needs']})" if run.get("needs") else ""
        for row in run["rows"]:
            print(f"{row['row']:20} {row['work']}{needs}")
    print()
    for program in peers.PROGRAMS.values():
        print(f"{program.name:20} {program.missing() or program.path()}")
    return 0


def command_smoke():
    status = 0
    with loads.FarEnd() as far:
        for name in peers.STARTS:
            program = peers.program_of(name)
            if program.missing() or name.endswith("/names"):
                print(f"{name}: {program.missing() or 'not by itself'}")
                continue
            try:
                with processes.Setup() as setup:
                    endpoint = runner.started(name, setup, far)
                    good = "dns" in endpoint or loads.answers(far, endpoint)
                    print(f"{name}: {'ok' if good else 'no round trip: ' + setup.last_words()}")
            except processes.StartFailed as error:
                good = False
                print(f"{name}: {error}")
            status |= not good
    return status


def command_ab(base, names, pairs):
    names = names or ab.ROWS
    micro = micro_targets() | micro_names()
    jobs = ab.jobs_of(names, micro, 2.0)
    try:
        gate.require_quiet()
    except gate.TooNoisy as error:
        print(f"refused: {error}")
        return REFUSED
    trees = ab.build(base, any(name in micro for name in names))
    judged = ab.compare(*trees, jobs, pairs=pairs)
    os.makedirs(report.RESULTS, exist_ok=True)
    with open(os.path.join(report.RESULTS, "ab.json"), "w", encoding="utf-8") as file:
        json.dump({"base": base, "new": report.commit(), "judged": judged}, file, indent=1)
    return REFUSED if any("refused" in j for j in judged.values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("quick", "full", "smoke", "list", "publish"):
        commands.add_parser(name)
    commands.add_parser("row").add_argument("names", nargs="+")
    both = commands.add_parser("ab")
    both.add_argument("base")
    both.add_argument("names", nargs="*", help=f"what to compare: {', '.join(ab.ROWS)}, micro rows")
    both.add_argument("--pairs", type=int, default=ab.PAIRS)
    commands.add_parser("judge").add_argument("result")
    two = commands.add_parser("compare")
    two.add_argument("first")
    two.add_argument("second")
    options = parser.parse_args()
    # Ended from outside, it still ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if options.command == "list":
        return command_list()
    if options.command == "compare":
        print("\n".join(report.compare(report.load(options.first), report.load(options.second))))
        return 0
    if options.command == "judge":
        result = report.judge_again(report.load(options.result))
        report.write(options.result, result)
        print(report.markdown(result["summary"]))
        return REFUSED if result["refused"] else 0
    if options.command == "publish":
        return publish.publish()
    if not os.access(loads.LOADGEN, os.X_OK):
        print(f"{loads.LOADGEN} is not built: tools/build.sh release loadgen")
        return 2
    if options.command == "row":
        return command_row(options.names)
    if options.command == "ab":
        return command_ab(options.base, options.names, options.pairs)
    if options.command == "smoke":
        return command_smoke()
    scale = runner.QUICK if options.command == "quick" else runner.FULL
    runs = [r for r in runner.read_runs()
            if options.command == "full" or r["run"] in runner.QUICK_RUNS]
    return run_session(scale, runs)


if __name__ == "__main__":
    sys.exit(main())
