"""Where an operation's time goes: instructions, locked instructions and cache misses of each function, by callgrind.

Counts, not times: they repeat exactly, on any machine of the same processor family. A locked instruction costs about half a
mutex pair, a miss of the first cache about 4 ns, one of the second about 12 ns, twenty plain instructions about 1 ns.
"""
import collections
import os
import re
import subprocess
from pathlib import Path

# Operation, what BELAY says, how often. Queued work is done by the caller alone: a worker's share would be luck.
OPERATIONS = [
    ("malloc+free", "devices=1", 10000),
    ("enqueue", "devices=1", 10000),
    ("sync", "devices=1", 10000),
    ("record+sync", "devices=1", 10000),
    ("hop", "devices=1", 10000),
    ("queued-copy", "devices=1; workers=0", 10000),
    ("queued-hop", "devices=1; workers=0", 10000),
    # As many as valgrind's address space holds; one task touches the same lines with 1024.
    ("devices", "devices=128", 12800),
]
COLUMNS = ["instructions", "locked", "L1 misses", "L2 misses"]
NAME = re.compile(r"^(c?(?:fn|ob))=\((\d+)\)(?: (.*))?$")
OURS = ("libascendcl.so", "bench_profile")


def second_cache():
    """Size, ways and line of this machine's second cache, for callgrind's last one."""
    folder = Path("/sys/devices/system/cpu/cpu0/cache/index2")
    try:
        size = int((folder / "size").read_text().strip().removesuffix("K")) * 1024
        return f"{size},{int((folder / 'ways_of_associativity').read_text())},64"
    except (OSError, ValueError):
        return "1048576,8,64"


def plain(name: str) -> str:
    """A function's name without parameters, template arguments and the namespaces that all have."""
    name = re.sub(r" \[clone.*\]|'\d+$|@@.*$", "", name).replace("(anonymous namespace)::", "")
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)( const)?", "", name)) != name:
        name = shorter
    return name.replace("belay::", "")


def costs_of(file: Path):
    """{function: [instructions, locked, L1, L2]} of a callgrind output. What the C library does, such as a mutex, counts for the
    function that called it; calls of our own functions do not."""
    names = {"fn": {}, "ob": {}}
    costs = collections.defaultdict(lambda: [0, 0, 0, 0])
    events, function, ours, called_ours, after_call = [], "", True, True, False
    for line in file.read_text().splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        elif match := NAME.match(line):
            kind, number, name = match.groups()
            table = names[kind[-2:]]
            if name:
                table[number] = name
            if kind == "fn":
                function = table[number]
            elif kind == "ob":
                ours = called_ours = table[number].endswith(OURS)
            elif kind == "cob":
                called_ours = table[number].endswith(OURS)
        elif line.startswith("calls="):
            after_call = True
        elif re.match(r"[0-9+*-]", line):
            if ours and function != "(below main)" and not (after_call and called_ours):
                values = dict(zip(events, map(int, line.split()[1:])))
                total = costs[plain(function)]
                total[0] += values.get("Ir", 0)
                total[1] += values.get("Ge", 0)
                total[2] += values.get("D1mr", 0) + values.get("D1mw", 0)
                total[3] += values.get("DLmr", 0) + values.get("DLmw", 0)
            if after_call:
                after_call, called_ours = False, ours
    return costs


def count(build: Path, lib: Path, operation: str, options: str, times: int):
    """What an operation costs that is done so many times: as costs_of."""
    out = build / "bench" / f"callgrind.{operation}"
    env = {name: value for name, value in os.environ.items() if not name.startswith("BELAY")}
    env |= {"BELAY": options, "LD_LIBRARY_PATH": f"{lib}:{env.get('LD_LIBRARY_PATH', '')}"}
    command = ["valgrind", "--tool=callgrind", "--collect-bus=yes", "--cache-sim=yes", f"--LL={second_cache()}",
               f"--callgrind-out-file={out}", "--toggle-collect=Profiled", str(build / "bench" / "bench_profile"),
               operation, str(times)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"bench/callgrind.py: {' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return costs_of(out)


def instructions(build: Path, lib: Path, operation: str, check: str) -> float:
    """Of one operation, all of whose work its own thread does."""
    times = 2000
    costs = count(build, lib, operation, f"quiet=on; check={check}; devices=1; workers=0", times)
    return sum(values[0] for values in costs.values()) / times


def profile(build: Path, lib: Path, only: str, most: int = 14):
    """Prints a table for each operation and, last, one of their sums as docs/benchmarks.md has it."""
    sums = []
    for operation, options, times in OPERATIONS:
        if only and only not in operation:
            continue
        costs = sorted(count(build, lib, operation, f"check=off; {options}", times).items(), key=lambda item: -item[1][0])
        each = [(name, [value / times for value in values]) for name, values in costs]
        total = [sum(values[i] for _, values in each) for i in range(4)]
        rest = [sum(values[i] for _, values in each[most:]) for i in range(4)]
        print(f"\n{operation} ({options}), each:")
        print(f"  {'':<44}" + "".join(f"{column:>14}" for column in COLUMNS))
        shown = each[:most] + ([(f"{len(each) - most} others", rest)] if len(each) > most else []) + [("all", total)]
        for name, values in shown:
            print(f"  {name[:44]:<44}{values[0]:>14.1f}" + "".join(f"{value:>14.2f}" for value in values[1:]))
        sums.append([f"`{operation}`", f"{total[0]:.0f}", *(f"{value:.1f}" for value in total[1:])])
    print("\n" + "\n".join(f"| {' | '.join(row)} |" for row in [["", *COLUMNS], ["---"] * 5, *sums]))
