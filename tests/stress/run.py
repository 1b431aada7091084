#!/usr/bin/env python3
"""Runs the stress test and judges what it cannot see by itself: the codes of its calls and its findings.

run.py --test PROGRAM --facts DIR [--options TEXT] -- ARGUMENTS
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

SKIPPED = 77
# What these threads do wrong, or may seem to: nothing about memory, handles or contexts.
COMMITTED = {"callback-misuse", "device-fault", "event-misuse", "never-fires", "teardown-order", "version-dependent",
             "slow-pattern", "resource-exhausted", "unsupported", "bad-argument"}
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
    return code in codes or earlier and (code >= 507000 or code in (207018, 107020))


def judge(lines: list[str], findings: list[dict], table: dict) -> list[str]:
    wrong = []
    seen = [line.split() for line in lines if line.startswith("code ")]
    if not seen:
        wrong.append("no codes were printed")
    for _, name, code, count in seen:
        if not allowed(table, name, int(code)):
            wrong.append(f"{name} returned {code} ({count} times), which the fact table does not list")
    for finding in findings:
        if finding["id"] not in COMMITTED or "internal" in (finding.get("message") or ""):
            wrong.append(f"a finding {finding['id']} from {finding['api']}: {finding['message']}")
    return wrong


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
        done = subprocess.run([options.test, *options.arguments], env=environment, stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode == SKIPPED:
            return SKIPPED
        findings = json.loads(report.read_text())["findings"] if report.exists() else None
    wrong = [] if done.returncode == 0 else [f"the test ended with {done.returncode}"]
    if done.returncode == 0:
        wrong += ["there is no report"] if findings is None else judge(done.stdout.splitlines(), findings, table)
    print(done.stdout)
    if wrong:
        print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
