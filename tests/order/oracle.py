#!/usr/bin/env python3
"""Judges the findings missing-order and implicit-order of random programs (README.md).

    oracle.py log FILE...                       judges logs
    oracle.py run --driver PROGRAM [--seed N] [--count N] [--no-queries] [--schedule S] [--workers N]
                                                runs programs and judges them
    oracle.py minimise --driver PROGRAM --seed N ...
                                                leaves out steps of program N and of those that lead to it while its
                                                verdict is still wrong, and shows the rest
    oracle.py equal --driver PROGRAM ...        the same programs under all schedules and numbers of workers: all judged,
                                                all with the same findings

Exit codes: 0, 1 when a verdict differs or the programs failed, 2 on a wrong argument.
"""

import argparse
import bisect
import itertools
import json
import os
import subprocess
import sys
import tempfile

from graph import IMPLICIT, MISSING
from program import Finding, Program, State, Unknown

MARKER = "aclrtSetOpExecuteTimeOut"
CHECKS = "check=basic,+missing-order,+implicit-order"
SCHEDULES, WORKERS = ("async", "eager", "on-wait"), (0, 1, 2)
MOST_SHOWN = 3
LINES_OF_OUTPUT = 20
NOWHERE = -1  # in place of an entry
PROGRAMS_OF_WORLD, MOST_STEPS = 16, 60  # of the driver


def access(side):
    return side["stream"], side["task"], side["api"]


def split(lines):
    """Cuts a log into programs: (number, calls and function events, findings). The first has number None: what was before
    all of them. A function's lines stand before those of a call that waited for it, so no program lacks one."""
    number, entries, findings = None, [], []
    for line in lines:
        entry = json.loads(line)
        if "finding" in entry:
            findings.append(entry)
        elif "api" in entry:
            if entry["api"] == MARKER:
                yield number, entries, findings
                number, entries, findings = entry["args"]["timeout"], [], []
            entries.append(entry)
    yield number, entries, findings


def place(entries, findings):
    """The findings, each with the entry in which it was found."""
    functions = {e["order"]: at for at, e in enumerate(entries) if "function" in e}
    calls = [(e["order"], at) for at, e in enumerate(entries) if "order" in e and "function" not in e]
    placed = []
    for finding in findings:
        order = finding["order"]
        begun = bisect.bisect_right(calls, (order, len(entries)))
        at = functions.get(order, calls[begun - 1][1] if begun else NOWHERE)
        placed.append(Finding(at, finding["finding"], access(finding["first"]), access(finding["second"])))
    return placed


def key(finding):
    return finding.at, finding.kind, finding.first, finding.second


def unmatched(expected, reported):
    """What only one of them has: two lists of keys."""
    ours, theirs = list(map(key, expected)), list(map(key, reported))
    for finding in list(ours):
        if finding in theirs:
            ours.remove(finding)
            theirs.remove(finding)
    return ours, theirs


def judge(state, entries, reported):
    """(program, the findings reported, whether they are those expected). Changes the state."""
    program = Program(state, entries).run()
    placed = place(program.entries, reported)
    return program, placed, unmatched(program.expected, placed) == ([], [])


def text(finding, only_ours, only_theirs):
    who = "only expected: " if finding in only_ours else "only reported: " if finding in only_theirs else ""
    first, second = ("stream %s task %s %s" % side for side in finding[2:])
    return f"{who}{finding[1]} first {first}, second {second}"


def show(number, program, reported, out):
    out.write(f"program {number}:\n")
    everything = sorted(set(map(key, program.expected)) | set(map(key, reported)))
    only_ours, only_theirs = unmatched(program.expected, reported)
    for index, entry in enumerate(program.entries):
        if "function" in entry:
            what = f"{entry['api']} {entry['function']}  [stream {entry['stream']} task {entry['task']}]"
        else:
            what = call_text(program, index, entry)
        out.write(f"  {index:3} {what}\n")
        for finding in [f for f in everything if f[0] == index]:
            out.write(f"      {text(finding, only_ours, only_theirs)}\n")
    for finding in [f for f in everything if f[0] == NOWHERE]:
        out.write(f"  in no call of the program: {text(finding, only_ours, only_theirs)}\n")
    doubled = len(reported) - len({key(f) for f in reported})
    if doubled:
        out.write(f"  {doubled} findings were reported twice\n")


def call_text(program, index, call):
    args = " ".join(f"{k}={v}" for k, v in call["args"].items() if k not in call.get("out", {}))
    outs = "".join(f" -> {k}={v}" for k, v in call.get("out", {}).items())
    code = f" FAILED {call['code']}" if call["code"] else ""
    if index not in program.tasks:
        return f"{call['api']} {args}{outs}{code}"
    looked_at = program.looked_at.get(index)
    later = f", looked at in {looked_at}" if looked_at != index else ""
    return f"{call['api']} {args}{outs}{code}" + "  [stream %s task %s%s]" % (*program.tasks[index], later)


class Judge:
    def __init__(self, out=None, keep=False):
        self.out, self.keep = out, keep
        self.programs = self.calls = self.differing = 0
        self.found = {MISSING: 0, IMPLICIT: 0}
        self.kept = {}  # program -> findings
        self.wrong = []

    def read(self, lines):
        state = State()
        for number, entries, findings in split(lines):
            program, findings, right = judge(state, entries, findings)
            self.programs += number is not None
            self.calls += sum("function" not in entry for entry in entries)
            for finding in findings:
                self.found[finding.kind] += 1
            if self.keep:
                self.kept[number] = [key(f) for f in findings]
            if not right:
                self.differing += 1
                self.wrong.append(number)
                if self.out is not None and self.differing <= MOST_SHOWN:
                    show(number, program, findings, self.out)

    def summary(self):
        return (f"{self.programs} programs, {self.calls} calls, {self.found[MISSING]} {MISSING}, "
                f"{self.found[IMPLICIT]} {IMPLICIT}, {self.differing} programs differ")


def execute(args, schedule, workers, judge_, skip=()):
    """Runs the programs and judges them meanwhile. Returns how they ended."""
    read, write = os.pipe()
    command = [args.driver, "--seed", str(args.seed), "--count", str(args.count)]
    command += ["--no-queries"] if args.no_queries else []
    command += [word for what in skip for word in ("--skip", what)]
    options = f"quiet=on {CHECKS} schedule={schedule} workers={workers} log=/proc/self/fd/{write}"
    with tempfile.TemporaryFile("w+") as errors, os.fdopen(read) as log:
        child = subprocess.Popen(command, pass_fds=(write,), env={**os.environ, "BELAY": options},
                                 stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        os.close(write)
        try:
            judge_.read(log)
        except Unknown as why:
            judge_.differing += 1
            print(f"oracle: after {judge_.programs} programs: {why}")
            child.kill()
        code = child.wait()
        if code != 0:
            errors.seek(0)
            print(*errors.readlines()[-LINES_OF_OUTPUT:], sep="")
            print(f"oracle: the programs ended with {code}")
    return code


def run(args, schedule, workers, judge_):
    """Whether the programs ran and were judged well."""
    code = execute(args, schedule, workers, judge_)
    print(f"{schedule} workers={workers}: {judge_.summary()}", flush=True)
    if judge_.differing:
        print(f"less: {sys.argv[0]} minimise --driver {args.driver} --schedule {schedule} --workers {workers} --seed N"
              + (" --no-queries" if args.no_queries else ""))
    return code == 0 and not judge_.differing and judge_.programs >= args.count


def minimise(args):
    program, skip = args.seed, []

    def still_wrong(skipped):
        judge_ = Judge()
        return execute(args, args.schedule, args.workers, judge_, skipped) == 0 and program in judge_.wrong

    # Its own world first, then more and more before that.
    for worlds in (0, 1, 2, 4, 16, 64, 256):
        args.seed = max(0, program - program % PROGRAMS_OF_WORLD - worlds * PROGRAMS_OF_WORLD)
        args.count = program - args.seed + 1
        if still_wrong(skip):
            break
    else:
        print(f"oracle: program {program} is judged as it should")
        return True
    before = list(range(args.seed, program))
    size = len(before)
    while size:
        for start in range(0, len(before), size):
            part = [str(p) for p in before[start:start + size] if str(p) not in skip]
            if part and still_wrong(skip + part):
                skip += part
        size //= 2
    for number in [p for p in before if str(p) not in skip] + [program]:
        for step in reversed(range(MOST_STEPS)):
            if still_wrong(skip + [f"{number}.{step}"]):
                skip.append(f"{number}.{step}")
    for number in before + [program]:
        if str(number) not in skip:
            execute(args, args.schedule, args.workers, ShowAll(number), skip)
    return False


class ShowAll(Judge):
    def __init__(self, number):
        super().__init__(sys.stdout)
        self.number = number

    def read(self, lines):
        state = State()
        for number, entries, findings in split(lines):
            program, findings, _ = judge(state, entries, findings)
            if number == self.number:
                show(number, program, findings, self.out)


def compare(args):
    good, first = True, None
    for schedule, workers in itertools.product(SCHEDULES, WORKERS):
        judge_ = Judge(sys.stdout, keep=True)
        good &= run(args, schedule, workers, judge_)
        if first is None:
            first = judge_.kept
        for number in first.keys() | judge_.kept.keys():
            if first.get(number) != judge_.kept.get(number):
                good = False
                print(f"oracle: program {number} has other findings under {schedule} with {workers} workers than under "
                      f"{SCHEDULES[0]} with {WORKERS[0]}")
                break
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    logs = commands.add_parser("log")
    logs.add_argument("files", nargs="+", metavar="FILE")
    for name in ("run", "minimise", "equal"):
        command = commands.add_parser(name)
        command.add_argument("--driver", required=True)
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--count", type=int, default=100)
        command.add_argument("--no-queries", action="store_true")
        command.add_argument("--schedule", choices=(*SCHEDULES, "all"), default="async")
        command.add_argument("--workers", default="1")
    args = parser.parse_args()
    if args.command == "log":
        judge_ = Judge(sys.stdout)
        for path in args.files:
            with open(path) as lines:
                try:
                    judge_.read(lines)
                except Unknown as why:
                    judge_.differing += 1
                    print(f"oracle: {path}: {why}")
        print(judge_.summary())
        return 1 if judge_.differing else 0
    if args.command == "minimise":
        return 0 if minimise(args) else 1
    if args.command == "equal":
        args.no_queries = True
        return 0 if compare(args) else 1
    schedules = SCHEDULES if args.schedule == "all" else (args.schedule,)
    workers = WORKERS if args.workers == "all" else (int(args.workers),)
    results = [run(args, s, w, Judge(sys.stdout)) for s in schedules for w in workers]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
