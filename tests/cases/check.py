#!/usr/bin/env python3
"""Runs one case of cases.toml and checks its exit code and its report.

check.py --programs DIR CASE
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

TIMEOUT_S = 60


def text_of(finding: dict) -> str:
    """Everything a reader sees of a finding, a line for each part."""

    def line(entry: dict) -> str:
        site = entry.get("site") or {}
        place = f"{os.path.basename(site.get('file') or '?')}:{site.get('line')}"
        device = "" if entry.get("device") is None else f"device {entry['device']}"
        return f"{entry.get('role', '')} {entry.get('api')} thread {entry.get('thread')} {device} {place}"

    parts = [finding.get("message") or "", finding.get("rule") or "", finding.get("fix") or "", line(finding)]
    return "\n".join(parts + [line(entry) for entry in finding.get("related", [])])


def judge(case: dict, findings: list[dict]) -> list[str]:
    """What is wrong with the findings, one line each."""
    wrong = []
    expected = case.get("finding", [])
    for want in expected:
        fitting = [f for f in findings if f["id"] == want["id"] and f["api"] == want["api"]]
        if not fitting:
            wrong.append(f"no finding {want['id']} from {want['api']}")
            continue
        if all(f["severity"] != want["severity"] for f in fitting):
            wrong.append(f"{want['id']} from {want['api']} is no {want['severity']}")
        texts = [text_of(f) for f in fitting]
        for pattern in want["says"]:
            if not any(re.search(pattern, text) for text in texts):
                wrong.append(f"{want['id']} from {want['api']} does not say {pattern!r}:\n" + "\n".join(texts))
    known = {want["id"] for want in expected}
    for finding in findings:
        if finding["severity"] == "error" and finding["id"] not in known or not expected:
            wrong.append(f"an unexpected finding {finding['id']} from {finding['api']}: {finding['message']}")
    return wrong


def options_of(case: dict) -> str:
    """The options of the case; {folder} stands for this folder, where products of its own lie."""
    return case.get("options", "").replace("{folder}", str(pathlib.Path(__file__).resolve().parent))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of the built case programs")
    parser.add_argument("case", help="a name from cases.toml")
    options = parser.parse_args()

    cases = tomllib.loads(pathlib.Path(__file__).with_name("cases.toml").read_text())
    case = cases[options.case]
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("BELAY", "ASCEND_RT"))}
        environment["BELAY"] = f"quiet=on color=off report={report} {options_of(case)}"
        environment.update(case.get("environment", {}))
        command = [str(options.programs / case.get("program", options.case)), *case.get("arguments", [])]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S,
                              stdin=subprocess.DEVNULL)
        findings = json.loads(report.read_text())["findings"] if report.exists() else None
    wrong = []
    if done.returncode != 0:
        wrong.append(f"{command} ended with {done.returncode}")
    if findings is None:
        wrong.append("there is no report")
    else:
        wrong += judge(case, findings)
    if wrong:
        print("\n".join(wrong))
        print(f"--- stdout\n{done.stdout}--- stderr\n{done.stderr}--- findings\n{json.dumps(findings, indent=1)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
