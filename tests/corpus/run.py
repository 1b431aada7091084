#!/usr/bin/env python3
"""Runs the programs of the corpus under `belay run` and compares what Belay reports with what they say of themselves.

run.py --belay BELAY --programs DIR GROUP               every program of the folder GROUP, under every schedule
run.py --belay BELAY --programs DIR --table FILE        writes the table of all programs
run.py --belay BELAY --programs DIR --check-table FILE  fails if the table differs from what a run gives

A program begins with three lines:

    // What it shows, in one sentence.
    // expect: ID ...      the findings; ID*5 for five of them, `none` for a program without a mistake
    // check: full         what --check gets
    // missed: REASON.     only where Belay is known not to find the mistake; the test fails once it does

A line that ends with `// BUG` is the site of a finding of the first id, one with `// BUG: ID` of that id. The finding
must name every line marked `// first` that belongs to it as its other side; with several findings, each of those lines
must be named by one of them.
"""
import argparse
import collections
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def misuse_runner():
    spec = importlib.util.spec_from_file_location("misuse_run", HERE.parent / "misuse" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


misuse = misuse_runner()
SCHEDULES = {
    "async": ["--schedule", "async"],
    "eager": ["--schedule", "eager", "--workers", "0"],
    "on-wait": ["--schedule", "on-wait"],
}
Bench = collections.namedtuple("Bench", "belay programs check")


class Program:
    def __init__(self, path):
        self.group, self.name = path.parent.name, path.stem
        lines = path.read_text().splitlines()
        head = [re.fullmatch(pattern, line) for pattern, line in
                zip((r"// (.+\.)", r"// expect: (.+)", r"// check: (\S+)"), lines)]
        if not all(head):
            raise misuse.Failed(f"{path} does not begin with its sentence, 'expect' and 'check'")
        self.shows, expected, self.check = (match[1] for match in head)
        missed = re.fullmatch(r"// missed: (.+\.)", lines[3])
        self.why_missed = missed[1] if missed else None
        self.ids = collections.Counter()
        for word in expected.split() if expected != "none" else []:
            finding_id, _, times = word.partition("*")
            self.ids[finding_id] += int(times or 1)
        self.sites = sorted(
            (mark[1] or next(iter(self.ids)), f"{path.name}:{number}")
            for number, line in enumerate(lines, 1) for mark in re.finditer(r"// BUG(?:: (\S+))?(?=\s|$)", line))
        if collections.Counter(finding_id for finding_id, _ in self.sites) != self.ids:
            raise misuse.Failed(f"{path} marks other lines than it expects findings")
        self.first = [f"{path.name}:{number}" for number, line in enumerate(lines, 1) if "// first" in line]

    def __str__(self):
        return f"{self.group}/{self.name}"


class Result:
    """What one run of a program gave, against what it expects."""

    def __init__(self, bench, program, schedule):
        self.program, self.schedule = program, schedule
        self.run = misuse.Run(bench, str(program), "--check", bench.check or program.check, *SCHEDULES[schedule])
        found = {(finding["id"], misuse.place(finding["site"])) for finding in self.run.findings}
        self.found = sorted(found & set(program.sites))
        self.missed = sorted(set(program.sites) - found)
        self.false = sorted(found - set(program.sites))
        related = {misuse.place(side["site"]) for finding in self.run.findings for side in finding["related"]}
        self.unnamed = [line for line in program.first if line not in related] if self.found else []

    def problem(self):
        """What is not as the program says, or nothing."""
        if self.run.report["exit_status"] != 0:
            return f"the program ended with {self.run.report['exit_status']}"
        wrong = ("found", "false") if self.program.why_missed else ("missed", "false", "unnamed")
        return "; ".join(f"{what}: {getattr(self, what)}" for what in wrong if getattr(self, what))


def programs_of(group):
    return [Program(path) for path in sorted(HERE.glob(f"{group}/*.cc"))]


def results_of(bench, programs, schedules=tuple(SCHEDULES)):
    """The results of every program under every schedule, in that order; some run at a time."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        runs = [[pool.submit(Result, bench, program, schedule) for schedule in schedules] for program in programs]
        return [[run.result() for run in each] for each in runs]


def check_group(bench, group):
    programs = programs_of(group)
    if not programs:
        sys.exit(f"no programs in {HERE / group}")
    bad = [result for each in results_of(bench, programs) for result in each if result.problem()]
    for result in bad:
        print(f"{result.program} {result.schedule}: {result.problem()}\n--- command: {' '.join(result.run.command)}\n"
              f"--- stdout\n{result.run.stdout}--- stderr\n{result.run.stderr}")
    if bad:
        sys.exit(f"FAILED: {len(bad)} of {len(programs) * len(SCHEDULES)} runs: "
                 + ", ".join(sorted({str(result.program) for result in bad})))


def cell(pairs):
    names = sorted(collections.Counter(finding_id for finding_id, _ in pairs).items())
    return ", ".join(finding_id if times == 1 else f"{finding_id} × {times}" for finding_id, times in names) or "–"


def table(bench, schedules=tuple(SCHEDULES)):
    """The page docs/corpus.md. One schedule is enough to compare it: the tests of the groups compare the schedules."""
    groups = sorted({path.parent.name for path in HERE.glob("*/*.cc")})
    rows, totals = [], collections.Counter()
    for group in groups:
        programs = programs_of(group)
        rows += [f"\n## {group}\n", "| program | what it shows | expected | found | missed | false |", "|---|---|---|---|---|---|"]
        for program, results in zip(programs, results_of(bench, programs, schedules)):
            verdicts = {(tuple(result.found), tuple(result.missed), tuple(result.false)) for result in results}
            found, missed, false = (sorted({pair for result in results for pair in getattr(result, what)})
                                    for what in ("found", "missed", "false"))
            found = [pair for pair in found if pair not in missed]
            differs = "" if len(verdicts) == 1 else " (differs between schedules)"
            link = f"[{program.name}](../tests/corpus/{program}.cc)"
            shows = program.shows + (f" Missed: {program.why_missed}" if program.why_missed else "")
            rows.append(f"| {link} | {shows} | {cell(program.sites)} | {cell(found)} | {cell(missed)} "
                        f"| {cell(false)}{differs} |")
            totals.update(programs=1, wrong=bool(program.sites), expected=len(program.sites), found=len(found),
                          missed=len(missed), false=len(false), silent=not program.sites and not false)
    right = totals["programs"] - totals["wrong"]
    return "\n".join([
        "# Corpus: what the findings find", "",
        "Small programs with mistakes that give no error code, and their relatives that look like mistakes and are none.",
        "Written by `tests/corpus/run.py --table`; the test `corpus.table` fails when a run gives another table. Each",
        "program runs under the schedules " + ", ".join(f"`{' '.join(options[1:])}`" for options in SCHEDULES.values())
        + ". *Found* counts a finding only", "at the line that is marked as wrong, under every schedule; *missed* and *false* "
        "count it under any.", "",
        "| programs | wrong | without mistake | findings expected | found | missed | false | without mistake and silent |",
        "|---|---|---|---|---|---|---|---|",
        f"| {totals['programs']} | {totals['wrong']} | {right} | {totals['expected']} | {totals['found']} "
        f"| {totals['missed']} | {totals['false']} | {totals['silent']} |",
        *rows, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--belay", type=os.path.abspath, required=True)
    parser.add_argument("--programs", type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--check", help="instead of what the programs ask for")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("group", nargs="?")
    what.add_argument("--table", type=pathlib.Path)
    what.add_argument("--check-table", type=pathlib.Path)
    arguments = parser.parse_args()
    # What a wrong program leaks is its mistake, not Belay's.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    bench = Bench(arguments.belay, arguments.programs, arguments.check)
    try:
        if arguments.group:
            check_group(bench, arguments.group)
        elif arguments.table:
            arguments.table.write_text(table(bench))
        elif table(bench, ["async"]) != arguments.check_table.read_text():
            sys.exit(f"FAILED: {arguments.check_table} is not what a run gives; write it with --table")
    except misuse.Failed as failed:
        sys.exit(f"FAILED: {failed}")
    except subprocess.TimeoutExpired as expired:
        sys.exit(f"FAILED: {expired.cmd} hangs\n{(expired.stderr or b'').decode()}")


if __name__ == "__main__":
    main()
