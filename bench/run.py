#!/usr/bin/env python3
"""Runs the benchmarks, judges them by bench/goals.py and prints one table.

    bench/run.py [--build DIR] [--lib DIR] [--json FILE] [--quick] [GROUP...]     GROUP: copy rows calls engine basic checks
    bench/run.py profile      where the engine's time goes, by callgrind; judges nothing

Every program uses only the C ABI of the library in DIR (default: lib64 of the build). Exit code 1: a goal was missed.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import callgrind  # noqa: E402
import goals  # noqa: E402

GROUPS = ["copy", "rows", "calls", "engine", "basic", "checks"]
# What the group `checks` compares; unguarded: `full` without the guard.
CHECKS = {"off": "off", "basic": "basic", "unguarded": "full,-guard", "full": "full"}
RUNS = 5  # processes of each kind that check=basic and check=off are compared over


def size_text(text: str) -> str:
    size = int(text)
    for unit, name in ((goals.MiB, "MiB"), (goals.KiB, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def nice(name: str) -> str:
    head, _, last = name.rpartition("/")
    return f"{head} {size_text(last)}" if last.isdigit() else name


class Runner:
    def __init__(self, args):
        self.args = args

    def run(self, program: str, options: str):
        """The lines that a benchmark prints, as they come."""
        command = [str(self.args.build / "bench" / program)]
        if self.args.quick:
            command += ["--rounds", "5", "--round-ms", "0.5"]
        if self.args.only:
            command += ["--only", self.args.only]
        env = {name: value for name, value in os.environ.items() if not name.startswith("BELAY")}
        env["BELAY"] = options
        env.setdefault("POCL_CACHE_DIR", str(self.args.build / "bench" / "pocl"))
        env["LD_LIBRARY_PATH"] = f"{self.args.lib}:{env.get('LD_LIBRARY_PATH', '')}"
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                yield json.loads(line)
        if process.returncode != 0:
            raise SystemExit(f"bench/run.py: {program} ended with {process.returncode}")


class Table:
    def __init__(self):
        self.rows = []
        self.missing = []  # goals that nothing was measured for
        print(f"{'what':<34}{'reached':>12}{'goal':>12}  verdict")

    def add(self, row: dict, unit: str, reached: float, goal, good: bool, remark: str = ""):
        verdict = "-" if goal is None else "ok" if good else "MISSED"
        sign = ">=" if unit == "x" else "<="
        shown = "" if goal is None else f"{sign} {goal:g}"
        print(f"{nice(row['id']):<34}{reached:>7.2f}{' ' + unit:<6}{shown:>11}  {verdict:<7}{remark}", flush=True)
        self.rows.append({**row, "reached": round(reached, 4), "unit": unit, "goal": goal, "verdict": verdict})

    def ratio(self, row: dict):
        goal = goals.ratio_goal(row["id"], row.get("limit", 0.0))
        remark = f"lower quartile {row['low']:.2f}"
        if row.get("limit"):
            remark += f", simple loop {row['limit']:.2f}"
        self.add(row, "x", row["ratio"], goal, goal is None or row["ratio"] >= goal, remark)

    def pairs(self, row: dict):
        goal = goals.pairs_goal(row["id"])
        self.add(row, "pairs", row["pairs"], goal, goal is None or row["pairs"] <= goal,
                 f"{row['ns']:.0f} ns, a pair is {row['pair_ns']:.1f} ns")

    def engine(self, row: dict):
        name = row["id"]
        if "percent" in row:
            goal = goals.IDLE_PERCENT
            self.add(row, "% CPU", row["percent"], goal, row["percent"] <= goal,
                     f"from 1 ms after the last task on, worst round {row['worst']:.2f}")
        elif "factor" in row:
            goal = goals.FACTORS.get(name)
            self.add(row, "x one", row["factor"], goal, goal is None or row["factor"] <= goal,
                     f"{row['ns']:.0f} ns, alone {row['one_ns']:.0f} ns")
        else:
            goal = goals.engine_goal(name, "pairs")
            self.add(row, "pairs", row["pairs"], goal, goal is None or row["pairs"] <= goal,
                     f"{row['ns']:.0f} ns, a pair is {row['pair_ns']:.1f} ns")
            for device in ("basic", "default"):
                goal = goals.engine_goal(name, device)
                if device in row:
                    self.add({**row, "id": f"{name}, PoCL {device}"}, "x", row[device], goal,
                             goal is None or row[device] >= goal,
                             f"{row[f'{device}_ns']:.0f} ns, lower quartile {row[f'{device}_low']:.2f}")
                elif goal is not None:
                    self.missing.append(f"{name}, PoCL {device}")

    def markdown(self):
        """The engine's rows as docs/benchmarks.md has them."""
        def cell(name, unit):
            row = next((row for row in self.rows if row["id"] == name and row["unit"] == unit), None)
            if row is None:
                return "-"
            told = "" if row["goal"] is None else f" ({'≥' if unit == 'x' else '≤'} {row['goal']:g})"
            bold = "**" if row["verdict"] == "MISSED" else ""
            return f"{bold}{row['reached']:.{2 if unit in ('x one', '% CPU') else 1}f}{bold}{told}"

        print("\n| | pairs | × PoCL basic | × PoCL default |\n|---|---|---|---|")
        for row in self.rows:
            if row["unit"] == "pairs" and "pair_ns" in row:
                columns = [cell(row["id"], "pairs"), *(cell(f"{row['id']}, PoCL {device}", "x") for device in ("basic", "default"))]
                print(f"| `{row['id']}` | {' | '.join(columns)} |")
        print("\n| | reached |\n|---|---|")
        for row in self.rows:
            if row["unit"] in ("x one", "% CPU"):
                print(f"| `{row['id']}` | {cell(row['id'], row['unit'])} {row['unit']} |")
        print()

    def basic(self, off: dict, basic: dict):
        for name, values in off.items():
            factor = statistics.median(basic[name]) / statistics.median(values)
            row = {"id": name, "off_pairs": values, "basic_pairs": basic[name]}
            goal = goals.basic_goal(name)
            self.add(row, "x off", factor, goal, goal is None or factor <= goal, "check=basic")

    def checks(self, found: dict):
        """`found`: {value of check: {id: [ns of each process]}}; copy and wait, pinned memory."""
        for name, off in found["off"].items():
            time = {check: statistics.median(values[name]) for check, values in found.items()}
            row = {"id": name, **{f"{check}_ns": value for check, value in time.items()}}
            for check in ("basic", "unguarded"):
                factor, goal = time[check] / time["off"], goals.CHECKS[check]
                self.add({**row, "id": f"{name}, {check}"}, "x off", factor, goal, factor <= goal,
                         f"{time[check]:.0f} ns, off {time['off']:.0f} ns")
            added = (time["full"] - time["unguarded"]) / 1000
            goal = goals.guard_goal(name)
            self.add({**row, "id": f"{name}, guard"}, "us", added, goal, added <= goal, "added to the copy")

    def instructions(self, operation: str, found: dict):
        """`found`: {value of check: instructions of the operation}."""
        for check in ("basic", "unguarded"):
            factor, goal = found[check] / found["off"], goals.CHECKS[check]
            self.add({"id": f"{operation}, {check}", **found}, "x off", factor, goal, factor <= goal,
                     f"{found[check]:.0f} instructions, off {found['off']:.0f}")


def main():
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP",
                        help="copy rows calls engine basic checks; default all of them. profile: callgrind")
    parser.add_argument("--build", type=Path, default=root / "build" / "bench", help="build tree with the benchmarks")
    parser.add_argument("--lib", type=Path, help="folder of libascendcl.so, e.g. of an install prefix")
    parser.add_argument("--json", type=Path, help="where to write the results; default BUILD/bench/results.json")
    parser.add_argument("--markdown", action="store_true", help="also print the engine's rows as docs/benchmarks.md has them")
    parser.add_argument("--quick", action="store_true", help="few short rounds: to see that it runs, not to judge")
    parser.add_argument("--only", help="only rows whose id contains this text, e.g. h2d/65536")
    args = parser.parse_args()
    for group in args.groups:
        if group == "profile" and len(args.groups) > 1:
            parser.error("profile stands alone")
        if group != "profile" and group not in GROUPS:
            parser.error(f"unknown group {group}; there are {' '.join(GROUPS)}")
    args.build = args.build.resolve()
    args.lib = (args.lib or args.build / "lib64").resolve()
    groups = args.groups or GROUPS
    if groups == ["profile"]:
        callgrind.profile(args.build, args.lib, args.only or "")
        return 0

    runner, table = Runner(args), Table()
    for group in ("copy", "rows"):
        if group in groups:
            for row in runner.run(f"bench_{group}", "check=off"):
                table.ratio(row)
    if "calls" in groups:
        for row in runner.run("bench_calls", "check=off"):
            table.pairs(row)
    if "engine" in groups:
        for row in runner.run("bench_engine", "check=off"):
            table.engine(row)
        for row in runner.run("bench_devices", "check=off; devices=1024"):
            table.engine(row)
    if "basic" in groups:
        # Turn and turn about, so that a slow minute of the machine meets both.
        found = {"off": {}, "basic": {}}
        for turn in range(1 if args.quick else RUNS):
            for check in ("off", "basic") if turn % 2 == 0 else ("basic", "off"):
                for row in runner.run("bench_calls", f"check={check}"):
                    found[check].setdefault(row["id"], []).append(row["pairs"])
        table.basic(found["off"], found["basic"])
    if "checks" in groups:
        found = {check: {} for check in CHECKS}
        for turn in range(1 if args.quick else RUNS):
            for check in list(CHECKS) if turn % 2 == 0 else list(reversed(CHECKS)):
                for row in runner.run("bench_checks", f"quiet=on; check={CHECKS[check]}"):
                    found[check].setdefault(row["id"], []).append(row["ns"])
        table.checks(found)
        for operation in ("h2d+sync", "d2h+sync"):
            if not args.quick and (args.only or "") in operation:
                table.instructions(operation, {check: callgrind.instructions(args.build, args.lib, operation, CHECKS[check])
                                               for check in ("off", "basic", "unguarded")})

    if args.markdown:
        table.markdown()
    missed = [row["id"] for row in table.rows if row["verdict"] == "MISSED"]
    judged = sum(row["verdict"] != "-" for row in table.rows)
    print(f"{judged - len(missed)} of {judged} goals reached" + (f"; missed: {'; '.join(missed)}" if missed else ""))
    if table.missing:
        print(f"not measured, PoCL is not here: {'; '.join(table.missing)}")
    file = args.json or args.build / "bench" / "results.json"
    file.write_text(json.dumps({"schema": 1, "quick": args.quick, "rows": table.rows}, indent=1) + "\n")
    print(f"written to {file}")
    return 1 if missed and not args.quick else 0


if __name__ == "__main__":
    sys.exit(main())
