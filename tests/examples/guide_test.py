"""The program on a page of docs/guide is the example itself, and prints what the page shows: guide_test.py PAGE SOURCE COMMAND..."""
import re
import subprocess
import sys
from pathlib import Path

page, source = (Path(argument).read_text() for argument in sys.argv[1:3])
block = re.search(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
if not block or block.group(1) != source:
    sys.exit(f"the program on {sys.argv[1]} is not {sys.argv[2]}")
run = subprocess.run(sys.argv[3:], stdout=subprocess.PIPE, text=True)
if run.returncode != 0:
    sys.exit(f"the program failed: exit status {run.returncode}\n{run.stdout}")
if f"```\n{run.stdout}```\n" not in page:
    sys.exit(f"{sys.argv[1]} does not show what the program prints:\n{run.stdout}")
