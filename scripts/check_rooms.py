#!/usr/bin/env python3
"""Checks the rooms of src/ (and tools/): each file includes only what the "includes:" line of its room's README.md allows.

The line reads `includes: base os engine(observer.h)`, or `includes: nothing`; `engine/observer.h` is another way to name one header. A room may always include itself, the
generated facts (belay/facts/) and the public headers. Also checked: the lines lead down only, and a README has at most 40 lines.
"""
import re
import sys
from pathlib import Path

LINE = re.compile(r"^\W*includes:\W*(.*)$", re.IGNORECASE | re.MULTILINE)
ENTRY = re.compile(r"([a-z_]+)(?:/([\w.]+\.h)|\s*\(([^)]*)\))?")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
MAX_README = 40


def allowed(readme: str):
    """{room: None for all of it, or the set of its headers}; None when there is no such line."""
    found = LINE.search(readme)
    if not found:
        return None
    text = found.group(1).replace("`", "").strip()
    if re.match(r"(nothing|none)\b", text):
        return {}
    rooms = {}
    for name, header, list_of_headers in ENTRY.findall(text):
        only = {header} if header else set(re.findall(r"[\w.]+\.h", list_of_headers))
        rooms[name] = (rooms.get(name) or set()) | only if only else None
    return rooms


def check(root: Path):
    problems = []
    rooms = {folder.name: folder for folder in sorted((root / "src").iterdir()) if folder.is_dir() and any(folder.glob("*.*"))}
    tools = {f"tools/{folder.name}": folder for folder in sorted((root / "tools").glob("*")) if folder.is_dir()}
    lines = {}
    for name, folder in {**rooms, **tools}.items():
        readme = folder / "README.md"
        place = readme.relative_to(root)
        if not readme.exists():
            problems.append(f"{place}: missing; it says what the room is for and what it may include")
            continue
        text = readme.read_text()
        if len(text.splitlines()) > MAX_README:
            problems.append(f"{place}: {len(text.splitlines())} lines, at most {MAX_README}")
        lines[name] = allowed(text)
        if lines[name] is None:
            problems.append(f'{place}: no line "includes: ROOM ROOM" (or "includes: nothing")')
            continue
        for other in lines[name]:
            if other not in rooms and other not in ("facts", "all"):
                problems.append(f"{place}: includes: names {other}, which is no room of src/")
        if "all" in lines[name]:
            lines[name] = {other: None for other in rooms if other not in (name, "abi")}

    known = {name: line for name, line in lines.items() if line is not None}
    for name, line in known.items():
        seen, todo = set(), list(line)
        while todo:
            other = todo.pop()
            if other == name:
                problems.append(f"src/{name}/README.md: includes: leads back to {name}")
                break
            if other not in seen:
                seen.add(other)
                todo.extend(known.get(other, {}))

    for name, line in known.items():
        folder = {**rooms, **tools}[name]
        for file in sorted(folder.iterdir()):
            if file.suffix not in (".h", ".cc"):
                continue
            text = file.read_text()
            for include in INCLUDE.finditer(text):
                room, _, header = include.group(1).partition("/")
                if room == name or room not in rooms or not header:
                    continue
                if room not in line:
                    reason = f"{name} may not include {room}"
                elif line[room] is not None and header not in line[room]:
                    reason = f"{name} may include only {', '.join(sorted(line[room]))} of {room}"
                else:
                    continue
                number = text.count("\n", 0, include.start(1)) + 1
                problems.append(f"{file.relative_to(root)}:{number}: {reason} ({include.group(1)})")
    return problems


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems = check(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
