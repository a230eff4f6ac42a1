"""Two builds of Culvert against each other: fresh processes in turn, base and new in the order
ABBA, so that a drift of the machine falls on both. A ratio is given a verdict only outside the
noise: when the confidence interval of its median leaves out 1, and it lies further from 1 than the
base from itself."""
import json
import math
import os
import re
import shutil
import statistics
import subprocess

from system import gate, loads, memory, peers, processes, runner

ROOT = loads.ROOT
FOLDER = os.path.join(ROOT, "build", "ab")
ROWS = ("direct_up", "direct_down", "short", "idle")
PAIRS = 7
CONFIDENCE = 0.95
FEWEST = 6  # turns below which no interval is that sure


def build(base, micro):
    """Builds the base in a worktree of its own, and both micro_bench where `micro` is true; returns
    the folders (base, new)."""
    tree = os.path.join(FOLDER, "base")
    wanted = subprocess.run(["git", "rev-parse", "--verify", f"{base}^{{commit}}"], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.strip()
    if not wanted:
        raise SystemExit(f"BASE: no commit '{base}'")
    os.makedirs(FOLDER, exist_ok=True)
    if not os.path.exists(os.path.join(tree, ".git")):
        shutil.rmtree(tree, ignore_errors=True)
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", tree, wanted], cwd=ROOT,
                       check=True)
    else:
        subprocess.run(["git", "checkout", "--detach", "--quiet", "--force", wanted], cwd=tree,
                       check=True)
    subprocess.run(["tools/build.sh", "release", "culvert"], cwd=tree, check=True)
    if micro:
        for folder in (tree, ROOT):
            subprocess.run(["tools/build.sh", "bench", "micro_bench"], cwd=folder, check=True)
    return tree, ROOT


def interval(values):
    """The confidence interval of the median by order statistics: (low, high)."""
    ordered, n = sorted(values), len(values)
    for k in range((n - 1) // 2, -1, -1):
        outside = 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n
        if 1 - outside >= CONFIDENCE:
            return ordered[k], ordered[n - 1 - k]
    return ordered[0], ordered[-1]


def judge(ratios, own_noise):
    """`ratios` new to base, `own_noise` base to base, each a list; what can be said of them."""
    median = statistics.median(ratios)
    low, high = interval(ratios)
    noise = statistics.median(abs(x - 1) for x in own_noise) if own_noise else 0.0
    if len(ratios) < FEWEST:
        word = f"too few turns for a verdict, {FEWEST} at least"
    elif low <= 1 <= high or abs(median - 1) <= noise:
        word = "no difference outside the noise"
    else:
        word = "less" if median < 1 else "more"
    return {"ratio": median, "low": low, "high": high, "noise": noise, "verdict": word}


def measure(tree, run, seconds):
    os.environ["CULVERT"] = os.path.join(tree, "build", "release", "culvert")
    load = runner.ONE_AT_A_TIME[run["scenario"]]
    with loads.FarEnd() as far, processes.Setup() as setup:
        endpoint = peers.start(run["culvert"], setup)
        if not loads.answers(far, endpoint):
            raise loads.LoadFailed(f"no round trip: {setup.last_words()}")
        record = gate.undisturbed(lambda: load(far, setup, endpoint, seconds=seconds,
                                               **run.get("options", {})))
        return record[run["rows"][0]["figure"]]


def measure_micro(tree, name):
    """CPU nanoseconds of one iteration."""
    done = subprocess.run(
        [os.path.join(tree, "build", "bench", "micro_bench"), "--benchmark_format=json",
         f"--benchmark_filter=^{re.escape(name)}$", "--benchmark_min_time=0.1"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    rows = json.loads(done.stdout or b"{}").get("benchmarks", [])
    if not rows:
        raise loads.LoadFailed(f"no benchmark '{name}' in {tree}")
    return rows[0]["cpu_time"] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[rows[0]["time_unit"]]


def measure_idle(tree):
    os.environ["CULVERT"] = os.path.join(tree, "build", "release", "culvert")
    with processes.Setup() as setup:
        peers.start("culvert/direct", setup)
        return memory.settled(setup)["rss"]


def jobs_of(names, micro_names, seconds):
    """What is measured under each name, as (title, function of a tree)."""
    by_name = {r["run"]: r for r in runner.read_runs()
               if "culvert" in r and r["scenario"] in runner.ONE_AT_A_TIME}
    jobs = []
    for name in names:
        if name == "idle":
            jobs.append(("idle RSS, minimal profile", measure_idle))
        elif name in by_name:
            run = by_name[name]
            jobs.append((run["rows"][0]["work"],
                         lambda tree, run=run: measure(tree, run, seconds)))
        elif name in micro_names:
            jobs.append((name, lambda tree, name=name: measure_micro(tree, name)))
        else:
            raise SystemExit(f"ROW: nothing to compare under '{name}'; there are idle, "
                             f"{', '.join(by_name)}, and the micro rows")
    return jobs


def compare(base, new, jobs, pairs=PAIRS, say=print):
    """Judgements by name of what was measured."""
    out = {}
    for name, job in jobs:
        ratios, noise = [], []
        try:
            for _ in range(pairs):
                a, b, c, d = (job(program) for program in (base, new, new, base))
                ratios.append((b + c) / (a + d))
                noise.append(a / d)
        except gate.TooNoisy as error:
            out[name] = {"refused": str(error)}
            say(f"{name}: refused: {error}")
            continue
        out[name] = judge(ratios, noise)
        say("{}: {ratio:.3f}x ({low:.3f}-{high:.3f}), base to itself +-{noise:.3f}: {verdict}"
            .format(name, **out[name]))
    return out
