#!/usr/bin/env python3
"""silent.py --tests BUILD --select REGEX [--jobs N]: runs tests that ctest knows once more under check=full and fails
when a finding speaks of order, of host buffers or of memory that nobody wrote or gave back.

The tests break rules on purpose, so findings about the calls themselves are expected; these are not. Where such a
finding is the very subject of a test, what a reset takes along, say, the guilty line ends with // LEAK or // RACE, and
must then be found.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SILENT = {"missing-order", "implicit-order", "uninitialized-read", "host-source-changed", "host-target-early",
          "host-buffer-gone", "leak"}
MARKS = {"leak": "// LEAK"}


def known_tests(build, select):
    output = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True,
                            text=True).stdout
    for test in json.loads(output)["tests"]:
        if re.search(select, test["name"]) and "command" in test and test["command"][0].startswith(build):
            properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
            yield test["name"], test["command"], dict(
                entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))


def options_under_full(options, report):
    kept = [option for option in shlex.split(options)
            if not option.startswith(("check=", "log=", "report=", "exit-code="))]
    return " ".join(shlex.quote(option) for option in [*kept, "check=full", f"report={report}"])


def run(folder, marks, name, command, environment):
    report = folder / (name + ".json")
    changed = {**environment, "BELAY": options_under_full(environment.get("BELAY", ""), report)}
    result = subprocess.run(command, env={**os.environ, **changed}, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, cwd=folder, timeout=600)
    if result.returncode != 0:
        return [f"{name}: ended with {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-2000:]}"], set()
    if not report.exists():
        return [f"{name}: no report: did it load the library?"], set()
    findings = [finding for finding in json.loads(report.read_text())["findings"] if finding["id"] in SILENT]
    marked = {site for site in map(where, findings) if site in marks}
    return [f"{name}: {finding['id']} at {where(finding)}: {finding['message']}" for finding in findings
            if MARKS.get(finding["id"], "// RACE") != marks.get(where(finding))], marked


def marked_lines(root):
    return {f"{source}:{number}": mark.group() for source in sorted(root.glob("*.cc"))
            for number, line in enumerate(source.read_text().splitlines(), 1)
            if (mark := re.search("// (LEAK|RACE)", line))}


def where(finding):
    site = finding.get("site") or {}
    return f"{site.get('file', '?')}:{site.get('line', '?')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", required=True)
    parser.add_argument("--select", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    tests = list(known_tests(arguments.tests, arguments.select))
    if not tests:
        sys.exit(f"no test matches {arguments.select}")
    marks = marked_lines(pathlib.Path(__file__).resolve().parent)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        folder = pathlib.Path(folder)
        results = list(pool.map(lambda test: run(folder, marks, *test), tests))
    failures = [line for lines, _ in results for line in lines]
    found = set().union(*(sites for _, sites in results))
    failures += [f"{site}: nothing was found here" for site in marks if site not in found]
    print("\n".join(failures))
    print(f"{len(tests)} tests under check=full, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
