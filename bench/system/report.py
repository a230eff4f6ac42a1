"""From records to medians, verdicts, a Markdown table and charts."""
import collections
import datetime
import json
import os
import platform
import statistics
import subprocess

from system import chart, gate, peers, runner

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "bench", "results")
SAME_MACHINE = 0.1  # how far the raw baselines of two results may lie apart


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True,
                          capture_output=True, check=False)
    return done.stdout.strip() or "unknown"


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    system = "unknown system"
    if os.path.exists("/etc/os-release"):
        with open("/etc/os-release", encoding="utf-8") as file:
            for line in file:
                if line.startswith("PRETTY_NAME="):
                    system = line.split("=", 1)[1].strip().strip('"')
    return {"processor": model, "cpus": len(os.sched_getaffinity(0)), "system": system,
            "kernel": platform.release().split("-")[0]}


def title_of(participant):
    return "bare veth" if participant == "veth" else peers.title(participant)


def number(value):
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


class Series:
    """One figure of one participant over the repetitions."""

    def __init__(self, by_repetition):
        self.by_repetition = by_repetition
        values = list(by_repetition.values())
        self.median = statistics.median(values)
        self.low, self.high = min(values), max(values)

    def text(self):
        if len(self.by_repetition) == 1 or number(self.low) == number(self.high):
            return number(self.median)
        return f"{number(self.median)} ({number(self.low)}-{number(self.high)})"


def series(records, run, participant, figure):
    found = {r["repetition"]: r[figure] for r in records
             if r["run"] == run and r["participant"] == participant and r.get(figure) is not None}
    return Series(found) if found else None


def limit_text(row, limit):
    if "text" in limit:
        return limit["text"] if limit["text"].startswith(">") else f"<= {limit['text']}"
    if "most_times" in limit:
        return f"<= {limit['most_times']:g}x {' or '.join(dict.fromkeys(map(title_of, limit['of'])))}"
    sign, value = ("<=", limit["most"]) if "most" in limit else (">=", limit["least"])
    return f"{sign} {value:g} {row.get('unit', '')}".strip()


def limit_met(records, run, row, limit):
    """The repetitions that keep to the limit, of how many; None where it cannot be said."""
    own = series(records, run["run"], run["culvert"], limit.get("figure", row["figure"]))
    if own is None:
        return None
    if "most_times" in limit:
        for name in limit["of"]:
            other = series(records, run["run"], name, row["figure"])
            if other:
                break
        else:
            return None
        good = [value <= limit["most_times"] * other.by_repetition.get(repetition, other.median)
                for repetition, value in own.by_repetition.items()]
    elif "most" in limit:
        good = [value <= limit["most"] for value in own.by_repetition.values()]
    else:
        good = [value >= limit["least"] for value in own.by_repetition.values()]
    return sum(good), len(good)


def summarise(session_records, refused, unable):
    """One entry a row, in the order of rows.json."""
    out = []
    for run in runner.read_runs():
        for row in run["rows"]:
            entry = {"row": row["row"], "work": row["work"], "unit": row.get("unit", ""),
                     "published": row.get("published", ""),
                     "target": "; ".join(limit_text(row, x) for x in row["limits"]),
                     "refused": refused.get(run["run"], ""), "needs": run.get("needs", ""),
                     "missing": {title_of(k): v for k, v in unable.get(run["run"], {}).items()},
                     "figures": {}, "beside": {}, "verdicts": []}
            if not entry["refused"] and row.get("figure"):
                for name in runner.members_of(run):
                    found = series(session_records, run["run"], name, row["figure"])
                    if found:
                        entry["figures"][title_of(name)] = {
                            "median": found.median, "low": found.low, "high": found.high,
                            "text": found.text(), "values": found.by_repetition}
                        entry["beside"][title_of(name)] = {
                            b: s.median for b in row.get("beside", [])
                            if (s := series(session_records, run["run"], name, b))}
                if "culvert" in run:
                    for limit in row["limits"]:
                        met = limit_met(session_records, run, row, limit)
                        entry["verdicts"].append({"limit": limit_text(row, limit), "met": met})
            errors = [f"{title_of(r['participant'])}: {r['error']}" for r in session_records
                      if r["run"] == run["run"] and "error" in r]
            lost = collections.Counter()
            for r in session_records:
                if r["run"] == run["run"]:
                    lost[title_of(r["participant"])] += r.get("failed", 0)
            errors += [f"{name} lost {n} connections" for name, n in lost.items() if n]
            entry["errors"] = list(dict.fromkeys(errors))
            out.append(entry)
    return out


def verdict(entry):
    if entry["refused"]:
        return "refused"
    if entry["needs"]:
        return "not built yet"
    known = [v["met"] for v in entry["verdicts"] if v["met"] is not None]
    if not known:
        return "not measured"
    words = "yes" if all(5 * good >= 3 * total for good, total in known) else "**no**"
    if words != "yes" and len(entry["verdicts"]) > 1:
        lost = [v["limit"] for v in entry["verdicts"]
                if v["met"] is not None and 5 * v["met"][0] < 3 * v["met"][1]]
        words += f" ({'; '.join(lost)})"
    return words


def beside_text(key, value):
    for end, text in (("pss_mib", "PSS {}"), ("dirty_mib", "private dirty {}"),
                      ("peak_mib", "peak {} MiB"), ("_mib", "{} MiB in all"), ("mib_s", "{} MiB/s"),
                      ("raw_cpu_s_per_gib", "raw {} s/GiB"), ("cpu_s_per_gib", "{} s/GiB"),
                      ("rate_of_raw", "{}x the raw rate"), ("p99_ms", "p99 {} ms"),
                      ("per_s", "{}/s")):
        if key.endswith(end):
            return text.format(number(value))
    return f"{key} {number(value)}"


def markdown(summary, only=None):
    lines = ["| work | target | Culvert, median (range) | met | others, median (Culvert / theirs) | published |",
             "|---|---|---|---|---|---|"]
    for entry in summary:
        if only is not None and entry["row"] not in only:
            continue
        own = entry["figures"].get("Culvert")
        unit = entry["unit"]
        others = []
        for name, figure in sorted(entry["figures"].items(), key=lambda item: item[1]["median"]):
            if name != "Culvert":
                ratio = (f" ({own['median'] / figure['median']:.2f}x)"
                         if own and figure["median"] else "")
                others.append(f"{name} {figure['text']}{ratio}")
        if entry["refused"]:
            others = [f"refused: {entry['refused']}"]
        if entry["missing"]:
            others.append("missing: " + ", ".join(entry["missing"]))
        others += entry["errors"]
        beside = ", ".join(beside_text(key, value)
                           for key, value in entry["beside"].get("Culvert", {}).items())
        mine = f"{own['text']} {unit}" + (f"; {beside}" if beside else "") if own else "-"
        lines.append(f"| {entry['work']} | {entry['target']} | {mine} | {verdict(entry)} | "
                     f"{'; '.join(others) or '-'} | {entry['published'] or '-'} |")
    return "\n".join(lines)


def save(session):
    """Writes bench/results/<kind>.json, keeping the one before as <kind>.previous.json."""
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, f"{session.scale.kind}.json")
    if os.path.exists(path):
        os.replace(path, os.path.join(RESULTS, f"{session.scale.kind}.previous.json"))
    result = {
        "kind": session.scale.kind, "commit": commit(), "machine": machine(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "refused": session.refused, "records": session.records,
        "summary": summarise(session.records, session.refused, session.unable),
    }
    write(path, result)
    return path, result


def write(path, result):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def judge_again(result):
    """The same records by the limits and the gate as they are now."""
    refused = {run: why for run, why in result["refused"].items() if why.startswith(gate.FOREIGN)}
    for run in {r["run"] for r in result["records"]} - set(refused):
        why = gate.wander([r.get("raw") for r in result["records"] if r["run"] == run])
        if why:
            refused[run] = why
    missing = {e["row"]: e["missing"] for e in result["summary"]}
    summary = summarise(result["records"], refused, {})
    for entry in summary:
        entry["missing"] = missing.get(entry["row"], {})
    return {**result, "refused": refused, "summary": summary}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def best_peers(result):
    """Of each run of a full result, the peers by the median of its first row, best first."""
    entries = {e["row"]: e for e in result["summary"]}
    out = {}
    for run in runner.read_runs():
        row = run["rows"][0]
        figures = entries.get(row["row"], {}).get("figures", {})
        most = any("least" in x and "figure" not in x for x in row["limits"])
        named = {title_of(n): n for n in run.get("peers", [])}
        ranked = sorted((f["median"], named[t]) for t, f in figures.items() if t in named)
        out[run["run"]] = [n for _, n in (reversed(ranked) if most else ranked)]
    return out


def raw_medians(result):
    """{row: the median of the raw baseline just before Culvert's repetitions}"""
    raw = collections.defaultdict(list)
    for record in result["records"]:
        if record.get("raw") and record["participant"].startswith(runner.CULVERT):
            raw[record["run"]].append(record["raw"])
    return {row["row"]: statistics.median(raw[run["run"]])
            for run in runner.read_runs() if run["run"] in raw for row in run["rows"]}


def compare(first, second):
    """How far the medians of Culvert's figures in two results lie apart, as Markdown lines. Where
    the raw baselines lie further apart than SAME_MACHINE, the machine has changed and the figures
    say nothing about Culvert: refused."""
    rows = {e["row"]: e for e in second["summary"]}
    raw_a, raw_b = raw_medians(first), raw_medians(second)
    lines = [f"| work | {first['commit']} | {second['commit']} | apart |", "|---|---|---|---|"]
    worst = collections.defaultdict(float)
    for entry in first["summary"]:
        other = rows.get(entry["row"])
        if other is None or entry["needs"]:
            continue
        a, b = entry["figures"].get("Culvert"), other["figures"].get("Culvert")
        if not a or not b:
            lines.append(f"| {entry['work']} | {verdict(entry)} | {verdict(other)} | - |")
            continue
        apart = abs(b["median"] - a["median"]) / a["median"] if a["median"] else 0.0
        before, after = raw_a.get(entry["row"]), raw_b.get(entry["row"])
        if before and after and abs(after - before) > SAME_MACHINE * before:
            lines.append(f"| {entry['work']} | {a['text']} | {b['text']} | refused: the raw baseline "
                         f"went from {number(before)} to {number(after)} |")
            continue
        kind = "memory" if entry["unit"] == "MiB" else "other"
        worst[kind] = max(worst[kind], apart)
        lines.append(f"| {entry['work']} | {a['text']} | {b['text']} | {100 * apart:.1f} % |")
    lines.append("")
    lines += [f"Largest, {kind}: {100 * apart:.1f} %" for kind, apart in sorted(worst.items())]
    return lines


CHARTS = (
    ("memory-held", "1,000 held connections, resident memory (MiB)", "hold_1000"),
    ("memory-idle", "Idle, resident memory (MiB)", "idle_rss"),
    ("relay-up", "Relay, upload, CPU seconds per GiB", "direct_up"),
    ("relay-down", "Relay, download, CPU seconds per GiB", "direct_down"),
    ("short", "Short connections, CPU microseconds each", "short"),
)


def charts(result, folder):
    """One SVG file for each chart whose row has figures; returns their names."""
    os.makedirs(folder, exist_ok=True)
    entries = {e["row"]: e for e in result["summary"]}
    written = []
    for name, caption, row in CHARTS:
        figures = entries[row]["figures"] if row in entries else {}
        if "Culvert" not in figures:
            continue
        bars = sorted(((f["median"], t) for t, f in figures.items()), key=lambda x: x[0])
        with open(os.path.join(folder, f"{name}.svg"), "w", encoding="utf-8") as file:
            file.write(chart.bars(caption, [(t, v, number(v)) for v, t in bars], "Culvert"))
        written.append(f"{name}.svg")
    return written
