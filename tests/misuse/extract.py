#!/usr/bin/env python3
"""Pulls the example programs out of docs/findings/*.md: the pages are their only source.

extract.py --pages DIR --out DIR   writes ID_bad.cpp, ID_good.cpp and index.json, and prints the ids.

A page has one block under "## Bad" with one line marked "// BUG" (where the finding must point), and one under
"## Good" with none. Comments of the form "// freed here" mark places that the finding must name besides. The first line
may be "// belay run OPTIONS". A file is written only when it changed, so builds stay incremental.
"""
import argparse
import difflib
import json
import pathlib
import re
import sys

MAX_FIX_LINES = 10


def fail(page, why):
    sys.exit(f"{page}: {why}")


def section(text, title):
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return match.group(1) if match else None


def program(page, text, title):
    blocks = re.findall(r"^```cpp\n(.*?)^```$", section(text, title) or "", re.M | re.S)
    if len(blocks) != 1:
        fail(page, f"wants one cpp block under '## {title}', has {len(blocks)}")
    return blocks[0]


def bare(code):
    return [re.sub(r"\s*// (BUG|\w+ here)$", "", line) for line in code.splitlines()]


def read_page(page):
    text = page.read_text()
    name = page.stem
    if not text.startswith(f"# {name}\n"):
        fail(page, f"the title is not '# {name}'")
    severity = re.search(r"^\*\*Severity\*\*: (error|warning|note)", text, re.M)
    if not severity:
        fail(page, "no line '**Severity**: error|warning|note'")
    for title in ("The rule", "How to silence it", "See also"):
        if not section(text, title):
            fail(page, f"no section '## {title}'")
    for target in re.findall(r"\]\(([^)#]+)", text):
        if not (page.parent / target).exists():
            fail(page, f"links to {target}, which does not exist")

    bad, good = program(page, text, "Bad"), program(page, text, "Good")
    bugs = [i for i, line in enumerate(bad.splitlines(), 1) if line.endswith("// BUG")]
    if len(bugs) != 1 or "// BUG" in good:
        fail(page, "wants one line of the bad program marked '// BUG' and none of the good one")
    changed = [d for d in difflib.ndiff(bare(bad), bare(good)) if d[0] in "+-"]
    if not 0 < len(changed) <= MAX_FIX_LINES:
        fail(page, f"the programs differ by {len(changed)} lines; a fix is 1 to {MAX_FIX_LINES}")
    options = re.match(r"// belay run (.*)\n", bad)
    if options and not good.startswith(options.group(0)):
        fail(page, "the good program does not run with the options of the bad one")
    facts = {
        "severity": severity.group(1),
        "bug": bugs[0],
        "related": [i for i, line in enumerate(bad.splitlines(), 1) if re.search(r"// \w+ here$", line)],
        "options": options.group(1).split() if options else [],
    }
    return facts, bad, good


def check_list(pages):
    """The list in README.md has a row for each page and nothing else, and calls none of them not built."""
    text = (pages / "README.md").read_text()
    listed = set(re.findall(r"^\| \[([a-z-]+)\]\(\1\.md\)", text, re.M))
    there = {page.stem for page in pages.glob("*.md")} - {"README"}
    if listed != there:
        fail(pages / "README.md", f"lists or lacks {', '.join(sorted(listed ^ there))}")
    not_built = set(re.findall(r"`([a-z-]+)`", re.search(r"^Not built yet.*$", text, re.M)[0]))
    if both := not_built & there:
        fail(pages / "README.md", f"has pages for what is 'not built yet': {', '.join(sorted(both))}")


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    check_list(arguments.pages)
    index = {}
    for page in sorted(arguments.pages.glob("*.md")):
        if page.stem == "README":
            continue
        index[page.stem], bad, good = read_page(page)
        write(arguments.out / f"{page.stem}_bad.cpp", bad)
        write(arguments.out / f"{page.stem}_good.cpp", good)
    write(arguments.out / "index.json", json.dumps(index, indent=1) + "\n")
    print(";".join(index), end="")


if __name__ == "__main__":
    main()
