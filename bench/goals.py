"""What the benchmarks must reach: one row per goal, the first that matches an id counts.

A copy row's figure is the raw loop's time over ours (more is better). For big copies the goal depends on libc: where a
simple loop of non-temporal stores shows that libc is slow (`limit`), ours must be as much faster; elsewhere it must not lose.
A call row's figure is in mutex pairs (less is better). An engine row is judged in mutex pairs and beside PoCL's devices.
"""

KiB, MiB = 1024, 1024 * 1024


def copy_goal(size: int, limit: float):
    if size >= 32 * MiB:
        return 1.4 if limit >= 1.5 else 0.97
    if size >= 16 * MiB:
        return 1.15 if limit >= 1.25 else 0.97
    if size >= 64 * KiB:
        return 0.95
    if size >= 4 * KiB:
        return 0.65
    return None  # judged in mutex pairs


def rows_goal(layout: str, width: int):
    if layout == "hot":
        return {4: 4.0, 16: 3.0, 64: 1.7}.get(width, 0.95)
    if layout == "pack":
        return 0.97
    if width < 64:
        return None
    if width > 4 * KiB:
        return 1.1
    return 1.3


def ratio_goal(name: str, limit: float):
    """The least ratio for an id such as copy/h2d/65536 or rows/hot/h2d/64; None where the figure is only told."""
    part = name.split("/")
    if part[0] == "copy":
        return copy_goal(int(part[2]), limit)
    if part[0] == "rows":
        return rows_goal(part[1], int(part[3]))
    return None


# The most mutex pairs for a call, with check=off.
PAIRS = [
    ("malloc+free/", 10.0),
    ("memcpy/h2d/64", 5.0),
    ("memcpy/d2h/64", 5.0),
    ("memcpy/d2d/64", 5.0),
]


def pairs_goal(name: str):
    for prefix, most in PAIRS:
        if name == prefix or (prefix.endswith("/") and name.startswith(prefix)):
            return most
    return None


# An engine row's goals: the most mutex pairs, and the least times that PoCL's inline device `basic` and its threaded
# default device take as long. What has no goal is only told.
ENGINE = {
    "enqueue/idle": {"pairs": 10.0, "basic": 3.0, "default": 15.0},
    "enqueue/busy": {"pairs": 14.0},
    "enqueue/drained": {"pairs": 20.0},
    "copy+sync": {"pairs": 17.0, "basic": 2.0, "default": 100.0},
    "record+sync": {"pairs": 17.0},
    "hop/idle": {"pairs": 25.0, "basic": 3.0, "default": 10.0},
    "hop/queued": {"pairs": 85.0, "default": 3.0},
}

# The most that a task may take, as a multiple of the same task alone: beside another thread, or on each of many devices in turn.
FACTORS = {"threads/copy+sync": 1.3, "devices-1024": 1.3}

# Percent of a processor that counts as none.
IDLE_PERCENT = 0.5


def engine_goal(name: str, column: str):
    return ENGINE.get(name, {}).get(column)


# The most that check=basic may cost, as a multiple of check=off.
BASIC = 1.3


def basic_goal(name: str):
    part = name.split("/")
    if part[0] == "malloc+free" and int(part[1]) > MiB:
        return None
    if part[0] in ("malloc+free", "memcpy", "memcpy2d"):
        return BASIC
    return None


# Copy and wait, from and to pinned memory: the most that check=basic and check=full without its guard may cost, as a
# multiple of check=off.
CHECKS = {"basic": 1.3, "unguarded": 5.0}


def guard_goal(name: str) -> float:
    """The most microseconds that the guard may add to a copy, whose bytes may go through /proc/self/mem if it fetches."""
    _, way, size = name.split("/")
    return 15 + (40 if way == "h2d" else 200) * int(size) / MiB
