#!/usr/bin/env python3
"""Which (function, code) pairs of the fact table did the conformance run never produce?

Reads the API logs of the run (one JSON object a line with "api" and "code") and the fact table. Chapter 32 counts
whole, chapters 20, 21, 30, 31 and 34 with the functions that are built. A pair that was not produced must stand in
unreachable.toml with a reason, and a pair that stands there must not have been produced.
"""

import argparse
import json
import pathlib
import sys
import tomllib

CHAPTERS = {"20": True, "21": True, "30": True, "31": True, "32": False, "34": True}  # chapter -> only what is built


def facts(folder: pathlib.Path) -> dict[str, list]:
    """Function -> documented codes and "earlier-failure", for the functions that count."""
    counted = {}
    for path in sorted(folder.glob("*.toml")):
        for function in tomllib.loads(path.read_text()).get("function", []):
            chapter = function.get("section", "").split(" ")[0]
            if chapter not in CHAPTERS or (CHAPTERS[chapter] and not function.get("built", False)):
                continue
            also = ["earlier-failure"] if "earlier-failure" in function.get("also", []) else []
            counted[function["name"]] = function.get("codes", []) + also
    return counted


def is_task_code(code: int) -> bool:
    """What "earlier-failure" in the table stands for: the code of a task that failed before."""
    return code >= 507000 or code == 207018


def produced(folder: pathlib.Path) -> tuple[dict[str, set[int]], int]:
    """Function -> codes seen, and the number of calls read."""
    seen: dict[str, set[int]] = {}
    calls = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        for line in path.read_text(errors="replace").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # the last line of a process that was ended
            if not isinstance(entry, dict) or "api" not in entry or not isinstance(entry.get("code"), int):
                continue
            seen.setdefault(entry["api"], set()).add(entry["code"])
            calls += 1
    return seen, calls


def unreachable(path: pathlib.Path) -> dict[tuple[str, object], str]:
    listed = {}
    for entry in tomllib.loads(path.read_text()).get("pair", []):
        if not entry.get("reason"):
            sys.exit(f"{path}: an entry without a reason: {entry}")
        for api in entry["apis"]:
            for code in entry["codes"]:
                listed[(api, code)] = entry["reason"]
    return listed


def judge(counted: dict, seen: dict, listed: dict) -> tuple[list, list, list, int]:
    """(pairs missing, listed pairs that were produced, listed pairs that the table does not have, pairs produced)."""
    missing, stale, done = [], [], 0
    pairs = set()
    for api, codes in counted.items():
        got = seen.get(api, set())
        for code in codes:
            pairs.add((api, code))
            if code == "earlier-failure":
                hit = any(is_task_code(c) and c not in codes for c in got)
            else:
                hit = code in got
            done += hit
            if hit and (api, code) in listed:
                stale.append((api, code))
            if not hit and (api, code) not in listed:
                missing.append((api, code))
    unknown = [pair for pair in listed if pair not in pairs]
    return missing, stale, unknown, done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=pathlib.Path, required=True, help="folder with the fact table of functions")
    parser.add_argument("--unreachable", type=pathlib.Path, required=True, help="pairs that cannot be produced yet")
    parser.add_argument("--logs", type=pathlib.Path, required=True, help="folder with the API logs of the run")
    options = parser.parse_args()

    counted = facts(options.facts)
    seen, calls = produced(options.logs)
    if not counted or calls == 0:
        sys.exit(f"nothing to compare: {len(counted)} functions, {calls} calls in {options.logs}")
    listed = unreachable(options.unreachable)
    missing, stale, unknown, done = judge(counted, seen, listed)
    for api, code in missing:
        print(f"not produced: {api} {code}")
    for api, code in stale:
        print(f"listed as unreachable, but produced: {api} {code}")
    for api, code in unknown:
        print(f"listed as unreachable, but not in the fact table: {api} {code}")
    print(f"{len(counted)} functions, {calls} calls: {done} pairs produced, {len(listed)} listed as unreachable, "
          f"{len(missing)} missing")
    return 1 if missing or stale or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
