#!/usr/bin/env python3
"""Runs one program of tests/guard under every schedule and number of workers, and checks what the guard finds.

run.py --belay BELAY --programs DIR SOURCE
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 60
CONFIGURATIONS = list(itertools.product(("async", "eager", "on-wait"), (0, 1, 2)))
NOTE = "belay: note: the program replaced the SIGSEGV handler"


def expected(source: pathlib.Path):
    """{(id, line of the access, line of the submission)} from the marks of the source."""
    lines = source.read_text().splitlines()
    copies = {m[1]: i for i, line in enumerate(lines, 1) if (m := re.search(r"// (\w+) here$", line))}
    marks = [(m[1], i, copies[m[2]]) for i, line in enumerate(lines, 1)
             if (m := re.search(r"// BUG ([\w-]+): (\w+)$", line))]
    if not marks:
        sys.exit(f"{source}: no line is marked")
    return set(marks)


def found(findings, source):
    def line(site):
        return site.get("line") if os.path.basename(site.get("file") or "") == source.name else str(site)

    return sorted(((f["id"], line(f["site"]), line(f["related"][0]["site"])) for f in findings), key=str)


def run(belay, program, schedule, workers):
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("BELAY", "ASCEND_RT"))}
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        environment["TSAN_OPTIONS"] = environment.get("TSAN_OPTIONS", "") + ":report_bugs=0"  # bad ones race about bytes
        command = [belay, "run", "--check", "+guard", "--schedule", schedule, "--workers", str(workers), "--color", "off",
                   "--report", str(report), "--findings-exit-code", "0", "--", str(program)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=scratch,
                              stdin=subprocess.DEVNULL)
        findings = json.loads(report.read_text())["findings"] if report.exists() else None
    return command, done, findings


def examine(belay, programs, source, kind, schedule, workers):
    command, done, findings = run(belay, programs / f"{source.stem}_{kind}", schedule, workers)
    wrong = []
    if done.returncode != 0 or done.stdout != "ok\n":
        wrong.append(f"ended with {done.returncode}")
    want = sorted(expected(source), key=str) if kind == "bad" else []
    if findings is None or found(findings, source) != want:
        wrong.append(f"found {None if findings is None else found(findings, source)}\ninstead of {want}")
    if done.stderr.count(NOTE) != (1 if (source.stem, kind) == ("replaced", "good") else 0):
        wrong.append("the note about the handler is missing, or there are too many")
    if wrong:
        text = "\n".join(wrong)
        raise SystemExit(f"FAILED {' '.join(command)}\n{text}\n--- stdout\n{done.stdout}--- stderr\n{done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--belay", required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of the built programs")
    parser.add_argument("source", type=pathlib.Path)
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [pool.submit(examine, options.belay, options.programs, options.source, kind, *configuration)
                for kind in ("bad", "good") for configuration in CONFIGURATIONS]
        for job in jobs:
            job.result()


if __name__ == "__main__":
    main()
