"""Emits docs/api-coverage.md: what Belay does with each runtime function."""

import collections

from output import BANNER, write

WORDS = {"implemented": "implemented", "refused": "refused", "not yet": "not yet"}
INTRO = """\
| State | Meaning |
|---|---|
| implemented | does its work |
| refused | no profile has it by the specification; answers 207000, or the value that stands for failure |
| not yet | answers like a refused function until it is built |

"Lacks" lists the product families where the call answers 207000, "Since" the first version that has it.
A state in brackets: not exported until it is built.
"""


def emit(facts, path):
    counts = collections.Counter(f.state for f in facts.runtime)
    exported = sum(f.exported for f in facts.runtime)
    out = [f"<!-- {BANNER} -->\n# API coverage\n\n",
           f"{len(facts.runtime)} runtime functions, {exported} exported: "
           + ", ".join(f"{counts[s]} {WORDS[s]}" for s in WORDS) + ".\n\n", INTRO]
    groups = collections.defaultdict(list)
    for f in facts.runtime:
        groups[f.group].append(f)
    out.append("\n| Group | Functions | " + " | ".join(WORDS) + " |\n|---|---|---|---|---|\n")
    for group, functions in sorted(groups.items()):
        states = collections.Counter(f.state for f in functions)
        out.append(f"| {group} | {len(functions)} | " + " | ".join(str(states[s]) for s in WORDS) + " |\n")
    for group, functions in sorted(groups.items()):
        out.append(f"\n## {group}\n\n| Function | State | Spec | Lacks | Since |\n|---|---|---|---|---|\n")
        for f in functions:
            state = f.state if f.exported else f"({f.state})"
            where = f.lacks if not f.unless else f"all, unless quirk `{f.unless}` is on"
            section = "signature only" if f.section == "README" else f.section
            out.append(f"| `{f.name}` | {state} | {section} | {where} | {f.since or '-'} |\n")
    write(path, "".join(out))
