#!/usr/bin/env python3
"""Runs the model test against the library with one planted fault, which it must find; with fault 0 it must find nothing.

The time is shared between the schedules and numbers of workers, since some faults show under some of them only.
"""
import argparse
import itertools
import os
import re
import subprocess
import sys
import time

MODES = [("async", 1), ("eager", 0), ("on-wait", 1), ("async", 2), ("on-wait", 0), ("eager", 2), ("async", 0)]
FOUND = re.compile(r"^model: (mismatch|hang).*(?:\n  .*)*", re.MULTILINE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--test", required=True, help="the model test, linked with the library that has the faults")
    parser.add_argument("--fault", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--modes", default="", help="only these, such as async1,eager0")
    args = parser.parse_args()
    modes = [mode for mode in MODES if not args.modes or f"{mode[0]}{mode[1]}" in args.modes.split(",")]
    start = time.monotonic()
    spent = lambda: time.monotonic() - start
    for turn, (schedule, workers) in enumerate(itertools.cycle(modes)):
        if spent() >= args.seconds:
            break
        share = min(3.0, args.seconds - spent())
        env = dict(os.environ, BELAY=f"quiet=on check=off schedule={schedule} workers={workers}", BELAY_PLANTED_FAULT=str(args.fault))
        command = [args.test, "--seed", str(1 + 100_000 * turn), "--seconds", str(share), "--stall", "4", "--keep"]
        run = subprocess.run(command, env=env, capture_output=True, text=True)
        if run.returncode == 0:
            continue
        found = FOUND.search(run.stderr)
        # A crash counts too: a fault may corrupt anything.
        if not found and run.returncode > 0:
            print(f"schedule={schedule} workers={workers}: exit code {run.returncode}\n{run.stderr}")
            return 1
        what = found.group(0) if found else f"ended by signal {-run.returncode}"
        print(f"fault {args.fault}: found after {spent():.1f} s under schedule={schedule} workers={workers}\n{what}")
        return 0 if args.fault != 0 else 1
    print(f"fault {args.fault}: nothing found in {spent():.0f} s")
    return 0 if args.fault == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
