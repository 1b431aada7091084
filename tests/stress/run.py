#!/usr/bin/env python3
"""Runs the stress test and judges what it cannot see by itself: the codes of its calls and its findings.

run.py --test PROGRAM --facts DIR [--options TEXT] -- ARGUMENTS
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import tomllib

SKIPPED = 77
# What these threads do wrong, or may seem to: nothing about memory, handles or contexts.
COMMITTED = {"callback-misuse", "device-fault", "event-misuse", "never-fires", "teardown-order", "version-dependent",
             "slow-pattern", "resource-exhausted", "unsupported", "bad-argument"}
# aclrtFree of a block that a queued task uses.
FREED_EARLY = ("use-after-free", "aclrtFree")
# SPEC 21 §6.2: the codes of failed and dropped tasks.
FAILED_TASK = {107020, 107022, 107023, 207018}
# SPEC 21 §6.3: nothing is made on a broken device.
BROKEN = 207001
# The functions of belay/control.h have no row in the fact table; their header lists these.
CONTROL = {0, 100000, 107001, 107002, 107003, 107017, 107000}


def documented(folder: pathlib.Path) -> dict[str, tuple[set[int], bool]]:
    """Function -> its codes, and whether the code of an earlier failed task may come too."""
    table = {}
    for path in folder.glob("*.toml"):
        for function in tomllib.loads(path.read_text()).get("function", []):
            codes = {0, *function.get("codes", [])}
            table[function["name"]] = codes, "earlier-failure" in function.get("also", [])
    return table


def allowed(table: dict, name: str, code: int) -> bool:
    if name.startswith("belay_"):
        return code in CONTROL
    codes, earlier = table[name]
    if name.startswith("aclrtCreate") and code == BROKEN:
        return True
    return code in codes or earlier and (code >= 507000 or code in FAILED_TASK)


def judge(lines: list[str], findings: list[dict], table: dict) -> list[str]:
    wrong = []
    seen = [line.split() for line in lines if line.startswith("code ")]
    if not seen:
        wrong.append("no codes were printed")
    for _, name, code, count in seen:
        if not allowed(table, name, int(code)):
            wrong.append(f"{name} returned {code} ({count} times), which the fact table does not list")
    for finding in findings:
        known = finding["id"] in COMMITTED or (finding["id"], finding["api"]) == FREED_EARLY
        if not known or "internal" in (finding.get("message") or ""):
            wrong.append(f"a finding {finding['id']} from {finding['api']}: {finding['message']}")
    return wrong


def run(command: list[str], environment: dict) -> tuple[subprocess.CompletedProcess, str]:
    """The run, and the end of what it said on stderr: a long run says gigabytes there."""
    end = collections.deque(maxlen=60)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", stdin=subprocess.DEVNULL) as process:
        reader = threading.Thread(target=lambda: end.extend(process.stderr))
        reader.start()
        out = process.stdout.read()
        reader.join()
    return subprocess.CompletedProcess(command, process.returncode, out), "".join(end)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", required=True)
    parser.add_argument("--facts", type=pathlib.Path, required=True)
    parser.add_argument("--options", default="")
    parser.add_argument("arguments", nargs="+")
    options = parser.parse_args()

    table = documented(options.facts)
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        environment = {**os.environ, "BELAY": f"quiet=on report={report} {options.options}"}
        for option in options.options.split():
            if option.startswith("workers="):
                environment["STRESS_WORKERS"] = option.removeprefix("workers=")
        done, last_words = run([options.test, *options.arguments], environment)
        if done.returncode == SKIPPED:
            return SKIPPED
        findings = json.loads(report.read_text())["findings"] if report.exists() else None
    wrong = [] if done.returncode == 0 else [f"{last_words}\nthe test ended with {done.returncode}"]
    if done.returncode == 0:
        wrong += ["there is no report"] if findings is None else judge(done.stdout.splitlines(), findings, table)
    print(done.stdout)
    if wrong:
        print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
