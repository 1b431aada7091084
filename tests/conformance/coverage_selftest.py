#!/usr/bin/env python3
"""coverage.py must see a missing pair, a stale entry and an entry about nothing."""

import json
import pathlib
import tempfile

import coverage

FACTS = """
[[function]]
name = "aclrtA"
built = true
section = "31 §1"
codes = [100000, 107000]
also = ["earlier-failure"]

[[function]]
name = "aclrtNotBuilt"
section = "31 §2"
codes = [100000]

[[function]]
name = "aclrtB"
section = "32 §2, 33 §1"
codes = [107001]
"""

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    (root / "facts").mkdir()
    (root / "logs").mkdir()
    (root / "facts" / "a.toml").write_text(FACTS)
    lines = [{"api": "aclrtA", "code": 100000}, {"api": "aclrtA", "code": 507013}, {"api": "aclrtB", "code": 0}]
    (root / "logs" / "a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{broken")
    counted = coverage.facts(root / "facts")
    assert counted == {"aclrtA": [100000, 107000, "earlier-failure"], "aclrtB": [107001]}, counted
    seen, calls = coverage.produced(root / "logs")
    assert calls == 3 and seen["aclrtA"] == {100000, 507013}, seen
    listed = {("aclrtA", 100000): "stale", ("aclrtB", 107001): "fine", ("aclrtC", 1): "nothing"}
    result = coverage.judge(counted, seen, listed)
    assert result == ([("aclrtA", 107000)], [("aclrtA", 100000)], [("aclrtC", 1)], 2), result
print("ok")
