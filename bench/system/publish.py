"""Puts the full result into the documents: the tables of docs/performance.md, the charts."""
import json
import os

from system import report

DOCUMENT = os.path.join(report.ROOT, "docs", "performance.md")
CHARTS = os.path.join(report.ROOT, "docs", "charts")


def replace_section(text, name, body):
    """The lines between <!-- name --> and <!-- /name -->."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    head, found, rest = text.partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"{DOCUMENT}: no section '{name}'")
    return head + begin + body.rstrip("\n") + "\n" + end + rest.partition(end)[2]


def origin(result):
    where = result["machine"]
    return (f"Commit {result['commit']}, {result['date'][:10]}, {where['cpus']} CPUs of "
            f"{where['processor']}, {where['system']}, Linux {where['kernel']}.")


def time_text(ns):
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns:.3g} ns"


def micro_table():
    path = os.path.join(report.RESULTS, "micro-summary.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    lines = ["| benchmark | median | allocations | instructions | target | met | published |",
             "|---|---|---|---|---|---|---|"]
    for row in rows:
        if not row["built"]:
            lines.append(f"| {row['name']} | not built yet | | | {row['target_text']} | - | "
                         f"{row['published']} |")
            continue
        met = {True: "yes", False: "**no**", None: ""}[row["met"]]
        if row.get("beyond"):
            met += f" ({row['beyond']})"
        per_op = "" if row.get("instructions") is None else f"{row['instructions']:,.0f}"
        allocs = "" if row.get("allocs") is None else f"{row['allocs']:g}"
        lines.append(f"| {row['name']} | {time_text(row['median_ns'])} | {allocs} | "
                     f"{per_op} | {row['target_text']} | {met} | {row['published']} |")
    return "\n".join(lines)


def publish():
    result = report.load(os.path.join(report.RESULTS, "full.json"))
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    text = replace_section(text, "system", origin(result) + "\n\n"
                           + report.markdown(result["summary"]))
    micro = micro_table()
    if micro:
        text = replace_section(text, "micro", micro)
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(text)
    written = report.charts(result, CHARTS)
    print(f"Written: docs/performance.md, {', '.join(written)}")
    return 0
