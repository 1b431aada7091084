#!/usr/bin/env python3
"""Runs the example programs of docs/findings under `belay run` and checks what it reports.

run.py --belay BELAY --programs DIR ID       the bad program fires at its marked line, the good one is silent
run.py --belay BELAY --programs DIR +CAUSE   the same for a file of causes/, which says what it expects
run.py --belay BELAY --programs DIR @SUITE   silencing, stopping, probing: see the functions named suite_...
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 60
CAUSES = pathlib.Path(__file__).with_name("causes")
DIES = {"device-pointer-touched"}  # the program ends by a signal there
SANITIZER_ERROR = re.compile(r"ERROR: \w+Sanitizer: SEGV")


class Failed(Exception):
    pass


def check(condition, message, run):
    if not condition:
        raise Failed(f"{message}\n--- command: {' '.join(run.command)}\n--- exit status {run.status}\n"
                     f"--- stdout\n{run.stdout}--- stderr\n{run.stderr}"
                     f"--- findings\n{json.dumps(run.findings, indent=1)}")


class Run:
    """One run of a program; `under` is None for a run without `belay run`."""

    def __init__(self, bench, name, *options, under="belay", config=""):
        self.program = str(bench.programs / name)
        with tempfile.TemporaryDirectory() as scratch:
            report = pathlib.Path(scratch, "report.json")
            environment = {k: v for k, v in os.environ.items() if not k.startswith(("BELAY", "ASCEND_RT"))}
            if name.endswith("_bad"):  # what a bad program leaks is its mistake, not Belay's
                environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
                # It may race about bytes, which is what Belay is to say.
                environment["TSAN_OPTIONS"] = environment.get("TSAN_OPTIONS", "") + ":report_bugs=0"
            if under:
                self.command = [bench.belay, "run", "--color", "off", "--report", str(report), *options, "--",
                                self.program]
            else:
                self.command = [self.program]
                environment["BELAY"] = f"color=off; report={report}; {config}"
            done = subprocess.run(self.command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S,
                                  cwd=scratch, stdin=subprocess.DEVNULL)
            self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
            self.report = json.loads(report.read_text()) if report.exists() else {}
        self.findings = self.report.get("findings", [])
        if under and not self.report:
            raise Failed(f"{self.command} wrote no report\n{self.stdout}{self.stderr}")

    def of(self, finding_id):
        return [f for f in self.findings if f["id"] == finding_id]


def each(things, examine):
    """Calls `examine` with every thing, some at a time: the programs mostly wait. The first failure is raised."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
        for done in [pool.submit(examine, thing) for thing in things]:
            done.result()


def place(site):
    site = site or {}
    return f"{os.path.basename(site.get('file') or '?')}:{site.get('line')}"


class Bench:
    def __init__(self, belay, programs):
        self.belay, self.programs = belay, programs
        self.index = json.loads((programs / "index.json").read_text())

    def bad(self, finding_id, *options, **how):
        own = " ".join(self.index[finding_id]["options"])
        if "--check" in options:  # it may be given once
            own = re.sub(r"--check[= ]\S+", "", own)
        own = own.split()
        return Run(self, f"{finding_id}_bad", *own, *options, **how)

    def good(self, finding_id, *options):
        return Run(self, f"{finding_id}_good", *self.index[finding_id]["options"], *options)

    def bug(self, finding_id):
        return f"{finding_id}_bad.cpp:{self.index[finding_id]['bug']}"


def fires_and_stays_silent(bench, finding_id):
    facts, bug = bench.index[finding_id], bench.bug(finding_id)
    run = bench.bad(finding_id)
    check(run.of(finding_id), f"no finding {finding_id}", run)
    found = [f for f in run.of(finding_id) if place(f["site"]) == bug]
    check(len(found) == 1, f"{len(found)} findings {finding_id} at {bug}", run)
    finding = found[0]
    check(finding["severity"] == facts["severity"], f"severity is not {facts['severity']}", run)
    for field in ("message", "rule", "fix"):
        check(finding[field], f"no {field}", run)
    check(finding["count"] >= 1, "no count", run)
    check(finding["thread"], "no thread", run)
    related = [place(side["site"]) for side in finding["related"]]
    for line in facts["related"]:
        check(f"{finding_id}_bad.cpp:{line}" in related, f"line {line} is not among the related sites", run)
    check(finding_id in run.stderr and bug in run.stderr, f"stderr does not name {finding_id} and {bug}", run)

    own = run.report["exit_status"]
    if finding_id in DIES:
        died = run.status == 139 or (run.status != 0 and SANITIZER_ERROR.search(run.stderr))
        check(died, "the program did not die by SIGSEGV", run)
    else:
        error = any(f["severity"] == "error" for f in run.findings)
        check(run.status == (own or (87 if error else 0)), "wrong exit status", run)

    run = bench.good(finding_id)
    check(run.stdout == "ok\n" and run.status == 0, "the good program fails", run)
    check(run.findings == [], "the good program has findings", run)


class Cause:
    """What a file of causes/ says about itself: the lines '// NAME: TEXT' of LINES."""

    LINES = {"finding", "says", "also", "run", "ends"}

    def __init__(self, name):
        self.name = name
        lines = (CAUSES / f"{name}.cc").read_text().splitlines()
        head = {}
        for line in lines:
            if not (said := re.match(r"// (\w+): (.+)$", line)):
                continue
            if said[1] not in self.LINES:
                raise Failed(f"{name}: unknown line '{line}'")
            head[said[1]] = said[2]
        self.id, self.severity = head["finding"].split()
        self.says = re.compile(head["says"])
        self.also = head.get("also", "").split()  # ids of further findings that the mistake leads to
        self.options = head.get("run", "").split()
        self.ends = int(head.get("ends", 0))  # the status with which the bad program ends itself
        bugs = [i for i, line in enumerate(lines, 1) if line.endswith("// BUG")]
        if len(bugs) != 1:
            raise Failed(f"{name}: wants one line marked '// BUG'")
        self.bug = f"{name}.cc:{bugs[0]}"
        self.related = [f"{name}.cc:{i}" for i, line in enumerate(lines, 1) if re.search(r"// \w+ here$", line)]


SCHEDULES = [], ["--schedule", "eager", "--workers", "0"], ["--workers", "2"]


def cause_fires_and_stays_silent(bench, name):
    cause = Cause(name)

    def examine(options):
        run = Run(bench, f"{name}_bad", *cause.options, *options)
        found = [f for f in run.of(cause.id) if place(f["site"]) == cause.bug]
        check(len(found) == 1, f"{len(found)} findings {cause.id} at {cause.bug}", run)
        finding = found[0]
        check(finding["severity"] == cause.severity, f"severity is not {cause.severity}", run)
        check(cause.says.search(finding["message"]), f"the message does not say {cause.says.pattern!r}", run)
        for field in ("rule", "fix", "thread", "api"):
            check(finding[field], f"no {field}", run)
        related = [place(side["site"]) for side in finding["related"]]
        for line in cause.related:
            check(line in related, f"{line} is not among the related sites", run)
        check(cause.bug in run.stderr, f"stderr does not name {cause.bug}", run)
        others = [f["id"] for f in run.findings if f["id"] not in [cause.id, *cause.also]]
        check(not others, "has other findings", run)
        check(run.report["exit_status"] == cause.ends, f"the program did not end with {cause.ends}", run)

        run = Run(bench, f"{name}_good", *cause.options, *options)
        check(run.stdout == "ok\n" and run.status == 0, "the good program fails", run)
        check(run.findings == [], "the good program has findings", run)

    each(SCHEDULES, examine)


def suite_off(bench):
    """`check=off` prints nothing and changes no result."""
    def examine(finding_id):
        on, off = bench.bad(finding_id), bench.bad(finding_id, "--check", "off")
        check(off.findings == [], "findings with check=off", off)
        check(off.stdout == on.stdout, "check=off changes what the program sees:\n" + on.stdout, off)
        check(off.report["exit_status"] == on.report["exit_status"], "check=off changes the exit status", off)
        if finding_id not in DIES:
            plain = bench.bad(finding_id, under=None, config="check=off") if not bench.index[finding_id]["options"] \
                else off
            check(bench.bug(finding_id) not in plain.stderr, "check=off prints a finding", plain)
            check(plain is off or plain.stderr == "", "check=off prints", plain)

    each(bench.index, examine)


def suite_minus(bench):
    """`check=basic,-ID` drops that id and no other."""
    def examine(finding_id):
        run = bench.bad(finding_id, "--check", f"basic,-{finding_id}")
        check(not run.of(finding_id), f"-{finding_id} does not silence it", run)

    each(bench.index, examine)
    run = bench.bad("double-free", "--check", "basic,-use-after-free")
    check(run.of("double-free"), "-use-after-free silences double-free", run)


def suite_suppress(bench):
    """A suppression file drops findings by id, by function and by file and line, and nothing else."""
    cases = [
        ("double-free", True), ("# comment\n\ndouble-free:main\n", True), ("double-*", True),
        (f"double-free:{bench.bug('double-free')}", True), ("*:double-free_bad.cpp", True),
        ("double-free:double-free_bad.cpp:1", False), ("double-free:other_function", False), ("use-after-free", False),
    ]
    for text, silent in cases:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text + "\n")
            file.flush()
            run = bench.bad("double-free", "--suppress", file.name)
        check(bool(run.of("double-free")) != silent, f"suppression {text!r}: silent should be {silent}", run)
        check(run.status == (0 if silent else 87), f"suppression {text!r}: wrong exit status", run)


def suite_abort(bench):
    """`on-finding=abort` ends the program by SIGABRT, after the text and with a complete report."""
    run = bench.bad("double-free", "--on-finding", "abort")
    check(run.status == 134, "did not die by SIGABRT", run)
    check(run.stdout == "", "went on after the finding", run)
    check(bench.bug("double-free") in run.stderr, "the text is missing", run)
    check(run.of("double-free"), "the report is not complete", run)
    run = bench.bad("slow-pattern", "--on-finding", "abort")
    check(run.status == 0, "a note stopped the program", run)


def suite_plain(bench):
    """Without `belay run` the library prints and reports the same; the exit status stays the program's own."""
    run = bench.bad("double-free", under=None)
    check(run.status == 0 and run.stdout.endswith("ok\n"), "the program's own result changed", run)
    check("double-free" in run.stderr and bench.bug("double-free") in run.stderr, "the text is missing", run)
    check(len(run.of("double-free")) == 1, "the report lacks the finding", run)
    run = bench.bad("device-pointer-touched", under=None)
    check(run.status == -11 or SANITIZER_ERROR.search(run.stderr), "did not die by SIGSEGV", run)
    check("device-pointer-touched" in run.stderr, "the text is missing", run)


def suite_exit_code(bench):
    """`findings-exit-code` replaces 87; warnings and notes leave 0 alone."""
    run = bench.bad("double-free", "--findings-exit-code", "5")
    check(run.status == 5, "wrong exit status", run)
    run = bench.bad("double-free", "--findings-exit-code", "0")
    check(run.status == 0, "wrong exit status", run)
    run = bench.bad("slow-pattern")
    check(run.status == 0, "a note changed the exit status", run)


def suite_schedules(bench):
    """The verdict does not depend on when work runs nor on how many threads run it."""
    def verdict(run):
        return sorted((f["id"], place(f["site"]), f["count"]) for f in run.findings)

    def examine(finding_id):
        usual = verdict(bench.bad(finding_id))
        for options in SCHEDULES[1:]:
            run = bench.bad(finding_id, *options)
            check(verdict(run) == usual, f"{finding_id}: {options} changes the findings from {usual}", run)

    each(bench.index, examine)


def suite_unsupported(bench):
    """`unsupported=abort` stops at the call that the profile lacks."""
    run = bench.bad("unsupported", "--unsupported", "abort")
    check(run.status == 134 and bench.bug("unsupported") in run.stderr, "did not stop there", run)
    check(run.stdout == "", "went on", run)


def suite_repeats(bench):
    """One place is reported once and counted; two places are two findings."""
    run = Run(bench, "repeats")
    found = sorted(run.of("bad-argument"), key=lambda f: f["site"]["line"])
    check([f["count"] for f in found] == [1000, 1], "wrong counts", run)
    check(run.stderr.count("repeats.cc:") == 2, "a repeat was printed again", run)


def suite_probes(bench):
    """Asking is no error: what callers probe is at most a note, said once."""
    runs = [("probes", []), ("probes", ["--product", "atlas-300i-duo"]), ("probes", ["--cann", "8.1"])]
    runs += [("probes_events", [*profile, *schedule]) for profile in ([], ["--product", "atlas-300i-duo"])
             for schedule in SCHEDULES]
    for program, options in runs:
        run = Run(bench, program, *options)
        check(run.status == 0 and run.stdout == "ok\n", "the program failed", run)
        loud = [f for f in run.findings if f["severity"] != "note"]
        check(not loud, "a probe is more than a note", run)
        said = [f"{f['id']} {f['api']}" for f in run.findings]
        check(len(said) == len(set(said)), "a probe is reported twice", run)


def suite_ignored_kind(bench):
    """aclrtMemcpy ignores its kind: a wrong one is a warning and the bytes arrive."""
    run = Run(bench, "ignored_kind")
    check(run.status == 0 and run.stdout == "ok\n", "the program failed", run)
    check([(f["id"], f["severity"]) for f in run.findings] == [("wrong-side", "warning")], "wants one warning", run)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--belay", required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("what")
    arguments = parser.parse_args()
    bench = Bench(arguments.belay, arguments.programs)
    try:
        if arguments.what.startswith("@"):
            globals()["suite_" + arguments.what[1:]](bench)
        elif arguments.what.startswith("+"):
            cause_fires_and_stays_silent(bench, arguments.what[1:])
        else:
            fires_and_stays_silent(bench, arguments.what)
    except Failed as failed:
        sys.exit(f"FAILED {arguments.what}: {failed}")
    except subprocess.TimeoutExpired as expired:
        sys.exit(f"FAILED {arguments.what}: {expired.cmd} hangs\n{(expired.stderr or b'').decode()}")


if __name__ == "__main__":
    main()
