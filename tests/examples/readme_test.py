"""The finding that README.md shows is the one that the demo prints: readme_test.py SOURCE_DIR BELAY EXAMPLE."""
import re
import subprocess
import sys
from pathlib import Path


def plain(text):
    """Without what differs from run to run and from place to place."""
    text = re.sub(r"thread \d+", "thread N", text)
    # Long paths move the line breaks.
    return re.sub(r"\s+", " ", text.replace(f"{SOURCE}/", "")).strip()


SOURCE, BELAY, EXAMPLE = sys.argv[1:]
shown = re.search(r"```\n(belay: error: .*?)```", (Path(SOURCE) / "README.md").read_text(), re.DOTALL)
if not shown:
    sys.exit("README.md shows no finding")
run = subprocess.run([BELAY, "run", "--", EXAMPLE, "--forget-enable"], capture_output=True, text=True)
printed = run.stdout + run.stderr
if plain(shown.group(1)) not in plain(printed):
    sys.exit(f"README.md shows\n{shown.group(1)}\nbut the demo prints\n{printed}")
