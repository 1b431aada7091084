"""Each lint must fire on a small tree that breaks its rule, and stay silent on the same tree without the fault."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_rooms  # noqa: E402
import check_tree  # noqa: E402

MARK = "TO" + "DO"


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name).resolve()
        self.write("src/low/README.md", "# low\n\nincludes: nothing\n")
        self.write("src/low/a.h", "#pragma once\n")
        self.write("src/low/b.h", "#pragma once\n")
        self.write("src/high/README.md", "# high\n\nincludes: low(a.h only)\n")
        self.write("src/high/c.cc", '#include "low/a.h"\n#include <vector>\n')
        self.write("README.md", "# Title\n\n[low](src/low/README.md#low)\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, module, *parts):
        problems = module.check(self.root)
        self.assertEqual(len(problems), 1, problems)
        for part in parts:
            self.assertIn(part, problems[0])

    def test_silent(self):
        self.assertEqual(check_rooms.check(self.root), [])
        self.assertEqual(check_tree.check(self.root), [])

    def test_include_up(self):
        self.write("src/low/d.cc", '\n#include "high/e.h"\n')
        self.expect(check_rooms, "src/low/d.cc:2", "low may not include high")

    def test_other_header(self):
        self.write("src/high/c.cc", '#include "low/b.h"\n')
        self.expect(check_rooms, "src/high/c.cc:1", "only a.h of low")
        self.write("src/high/README.md", "# high\n\nincludes: low/a.h\n")
        self.expect(check_rooms, "src/high/c.cc:1", "only a.h of low")
        self.write("src/high/README.md", "# high\n\nincludes: low/a.h low/b.h\n")
        self.assertEqual(check_rooms.check(self.root), [])

    def test_no_line(self):
        self.write("src/low/README.md", "# low\n")
        self.expect(check_rooms, "src/low/README.md", "includes:")

    def test_no_readme(self):
        (self.root / "src/low/README.md").unlink()
        self.expect(check_rooms, "src/low/README.md", "missing")

    def test_long_readme(self):
        self.write("src/low/README.md", "includes: nothing\n" + "line\n" * 40)
        self.expect(check_rooms, "41 lines")

    def test_circle(self):
        self.write("src/low/README.md", "includes: high\n")
        self.assertTrue(any("leads back" in problem for problem in check_rooms.check(self.root)))

    def test_unknown_room(self):
        self.write("src/low/README.md", "includes: attic\n")
        self.expect(check_rooms, "attic")

    def test_mark(self):
        self.write("src/low/d.cc", f"// {MARK}: later\n")
        self.expect(check_tree, "src/low/d.cc:1", "unfinished")

    def test_pragma(self):
        self.write("src/low/b.h", "int x;\n")
        self.expect(check_tree, "src/low/b.h", "#pragma once")

    def test_long_file(self):
        self.write("src/low/d.cc", "//\n" * 601)
        self.expect(check_tree, "601 lines")

    def test_sleep(self):
        self.write("src/low/d_test.cc", "std::this_thread::sleep_for(1s);\n")
        self.expect(check_tree, "src/low/d_test.cc:1", "sleeps")

    def test_dead_link(self):
        self.write("README.md", "[x](gone.md)\n")
        self.expect(check_tree, "README.md:1", "leads nowhere")

    def test_dead_anchor(self):
        self.write("README.md", "[x](src/low/README.md#high)\n")
        self.expect(check_tree, "no heading")


if __name__ == "__main__":
    unittest.main()
