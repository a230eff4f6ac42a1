#!/usr/bin/env python3
"""Checks the rules of the house that a regular expression can see. Prints every breach and exits 1
when there is one."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_LINES = 1000
# Bytes as they came, from elsewhere or on purpose.
DATA = ("tests/corpus/", "tests/data/")
CODE = (".cc", ".h", ".py", ".sh", ".cmake", ".c")
CPP = (".cc", ".h")
# Spelt so that this file passes.
MARKERS = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b")
FOLDERS = {"util", "utils", "common", "misc", "helper", "helpers"}
TYPE_NAME = re.compile(
    r"\b(?:class|struct|union|enum(?:\s+class)?|using|concept)\s+(?:\[\[\w+\]\]\s*)?"
    r"(\w*(?:Manager|Handler|Helper|Util|Utils))\b")
PRIVATE_PATH = re.compile(r"(?<![\w.$}/-])/(?:root|home|work|workspace)/[\w.-]+")
COMMENT_OR_STRING = re.compile(
    r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/',
    re.S)
THROWS = re.compile(r"\bthrow\b|\btry\s*\{|\bcatch\s*\(")
FIRST_INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
        capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return sorted(f for f in listed.stdout.split("\0")
                      if f and os.path.isfile(os.path.join(ROOT, f)))
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [d for d in folders if d not in ("build", ".git", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names]
    return sorted(found)


def check_text(path, text, report):
    lines = text.split("\n")
    if text and not text.endswith("\n"):
        report(len(lines), "no newline at the end")
    if text.endswith("\n\n"):
        report(len(lines), "empty lines at the end")
    if path.endswith(CODE) and len(lines) > MAX_LINES:
        report(MAX_LINES, f"{len(lines)} lines, at most {MAX_LINES}")
    makefile = os.path.basename(path) == "Makefile"
    for number, line in enumerate(lines, 1):
        if line.endswith("\r"):
            report(number, "carriage return")
        elif line != line.rstrip():
            report(number, "trailing white space")
        if "\t" in line and not makefile:
            report(number, "tab")
        if MARKERS.search(line):
            report(number, "a marker of unfinished work")
        if PRIVATE_PATH.search(line):
            report(number, "a path of somebody's machine")


def check_cpp(path, text, report):
    def blank(match):
        return "".join(c if c == "\n" else " " for c in match.group())

    def line_of(offset):
        return text.count("\n", 0, offset) + 1

    code = COMMENT_OR_STRING.sub(blank, text)
    if path.endswith(".h") and not re.search(r"^#pragma once$", code, re.M):
        report(1, "no #pragma once")
    for match in TYPE_NAME.finditer(code):
        report(line_of(match.start()), f"type name {match[1]} says nothing")
    if not path.startswith("src/"):
        return
    for match in THROWS.finditer(code):
        report(line_of(match.start()), f"'{match.group()}': failures are Results here")
    header = re.sub(r"(_test|_fuzz|_bench)?\.cc$", ".h", path)
    if path.endswith(".cc") and header == path[:-3] + ".h" and os.path.exists(
            os.path.join(ROOT, header)):
        first = FIRST_INCLUDE.search(text)
        start = first.start() if first else 0
        # A macro that a library's header looks for comes before everything, and so does that header.
        if "#define" not in text[:start] and (
                first is None or first[1] != header.removeprefix("src/")):
            report(line_of(start), f"its own header, {header.removeprefix('src/')}, comes first")


def main():
    breaches = []
    files = tracked_files()
    for path in files:
        def report(line, what, path=path):
            breaches.append(f"{path}:{line}: {what}")

        for folder in os.path.dirname(path).split("/"):
            if folder.lower() in FOLDERS:
                report(1, f"folder {folder}/: name it after what is in it")
        if path.startswith(DATA):
            continue
        with open(os.path.join(ROOT, path), "rb") as file:
            raw = file.read()
        if b"\0" in raw:
            continue
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            report(1, "not UTF-8")
            continue
        check_text(path, text, report)
        if path.endswith(CPP):
            check_cpp(path, text, report)
    for breach in breaches:
        print(breach)
    print(f"Tree: {len(files)} files, {len(breaches)} breaches of the rules of the house")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
