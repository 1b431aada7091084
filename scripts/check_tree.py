#!/usr/bin/env python3
"""Checks what every file of the tree promises: no unfinished marks, #pragma once, a readable size, links that lead somewhere."""
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

CODE = {".h", ".cc", ".c"}
TEXT = CODE | {".md", ".py", ".toml", ".cmake", ".txt", ".json", ".sh", ""}
MAX_LINES = 600
# Written so that this file does not match itself.
WORDS = [
    (re.compile(r"\bTO[D]O\b|\bFIX[M]E\b|\bXX[X]\b"), "an unfinished mark: finish it or file an issue"),
    (re.compile(r"/w[o]rk/|\.\./shar[e]d"), "a path of somebody's own machine"),
]
SLEEP = re.compile(r"\bsleep_for\b|\bsleep_until\b|\busleep\s*\(|\bnanosleep\s*\(")
LINK = re.compile(r"(?<!\!)\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]*`")


def files_of(root: Path):
    """What git knows or would add; without git or a repository, everything but build trees."""
    git = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(git, capture_output=True, text=True) if shutil.which("git") else None
    if listed is not None and listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.relative_to(root).parts[0] not in (".git", "build")]
    return sorted(path for path in (root / name for name in names) if path.is_file() and not path.is_symlink())


def anchors(text: str):
    found = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
        found.add(plain.replace(" ", "-"))
    return found


def check_links(root: Path, file: Path, text: str):
    shown = INLINE.sub("", FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), text))
    for link in LINK.finditer(shown):
        target = unquote(link.group(1))
        if re.match(r"[a-z]+:", target):
            continue
        number = shown.count("\n", 0, link.start()) + 1
        path, _, anchor = target.partition("#")
        place = (file.parent / path).resolve() if path else file
        if not place.exists():
            yield f"{file.relative_to(root)}:{number}: the link {target} leads nowhere"
        elif root not in place.parents and place != root:
            yield f"{file.relative_to(root)}:{number}: the link {target} leaves the tree"
        elif anchor and place.suffix == ".md" and anchor not in anchors(place.read_text()):
            yield f"{file.relative_to(root)}:{number}: {path or file.name} has no heading #{anchor}"


def check(root: Path):
    problems = []
    for file in files_of(root):
        name = file.relative_to(root)
        if file.suffix not in TEXT:
            continue
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, reason in WORDS:
                if pattern.search(line):
                    problems.append(f"{name}:{number}: {reason}")
            if name.stem.endswith("_test") and file.suffix in CODE and SLEEP.search(line):
                problems.append(f"{name}:{number}: a test holds a stream and steps it; it never sleeps")
        # The drop-in headers are written by the generator, with guards that any C compiler knows.
        generated = name.parts[0] == "include" and name.parts[1] != "belay"
        if file.suffix == ".h" and not generated and "#pragma once" not in text:
            problems.append(f"{name}: no #pragma once")
        if file.suffix in CODE and not generated and text.count("\n") > MAX_LINES:
            problems.append(f"{name}: {text.count(chr(10))} lines, more than {MAX_LINES}: probably two concepts")
        if file.suffix == ".md":
            problems.extend(check_links(root, file, text))
    return problems


def main():
    problems = check(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
