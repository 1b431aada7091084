"""The grammar of `lacks` and `since`: in which versions and product families a call answers 207000.

    lacks = "200I, INF; 950 before 9.0"     families, and from where or until when; ";" joins clauses
    lacks = "all but A3"                    every family except the listed ones
    lacks = "-"                             none

A qualifier (before V, from V) holds for its whole clause. 950DT and 950PR are variants inside family 950 that
no profile distinguishes yet: they are checked for spelling and change no mask.
"""

import re

FAMILIES = ("950", "A3", "A2", "200I", "INF", "TRN")
VERSIONS = ("8.1", "8.5", "9.0", "9.1")
VARIANTS = ("950DT", "950PR")
ALL = (1 << len(FAMILIES)) - 1


def number(version):
    return tuple(int(part) for part in version.split("."))


def available_since(since):
    """The index of the first profile version that has the call; len(VERSIONS) if none has."""
    if since in ("", "base"):
        return 0
    return sum(number(v) < number(since) for v in VERSIONS)


def _families(text):
    if text == "all":
        return ALL
    if text.startswith("all but "):
        return ALL & ~_families(text[len("all but "):])
    mask = 0
    for tag in (t.strip() for t in text.split(",")):
        if tag in FAMILIES:
            mask |= 1 << FAMILIES.index(tag)
        elif tag not in VARIANTS:
            raise ValueError(f"unknown product family {tag!r}")
    return mask


def masks(lacks, since):
    """One family mask per profile version."""
    out = [ALL if i < available_since(since) else 0 for i in range(len(VERSIONS))]
    for clause in (c.strip() for c in (lacks or "-").split(";")):
        if clause == "-":
            continue
        match = re.fullmatch(r"(.*?)(?: (before|from) (\d+\.\d+))?", clause)
        for i, version in enumerate(VERSIONS):
            holds = match[2] is None or (number(version) < number(match[3])) == (match[2] == "before")
            if holds:
                out[i] |= _families(match[1])
    return out
