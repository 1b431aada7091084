"""`belay topo`: the table, the JSON and the picture. topo_test.py BELAY CASE...

Picture checks every picture by arithmetic on monospaced letters; Browser lets headless Chromium lay the text out, 390 and 1280
pixels wide, and measures what it drew. Both look at every product and at machines made to be hard to draw.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = sorted(path.stem for path in (ROOT / "products").glob("*.toml"))
SVG = "{http://www.w3.org/2000/svg}"
SMALLEST = 11
WIDTHS = (390, 1280)

LINK = """
[[links]]
kind = "{kind}"
group = {group}
match = "{match}"
peer = {peer}
bandwidth_gbps = {{ value = {bandwidth}, source = "assumed" }}
latency_us = {{ value = 1234.5, source = "assumed" }}
"""


def link(kind, group, peer=True, match="group", bandwidth=12345.6):
    return LINK.format(kind=kind, group=group, peer=str(peer).lower(), match=match, bandwidth=bandwidth)


# name: (title, devices, links). Rows that wrap, rows that end early, groups that a row cuts, every kind, equal places.
HARD = {
    "hard-64": ("Sixty-four devices & <one> \\\"switch\\\"", 64,
                link("sio", 2) + link("pcie-switch", 4, False) + link("hccs", 16) + link("hccs-switch", 64)),
    "hard-20": ("A_title_with_one_word_that_is_longer_than_a_line_of_the_picture_and_must_be_cut " + "w" * 90, 20,
                link("hccs", 3) + link("system", 20, False, bandwidth=0)),
    "hard-5": ("5", 5, link("pcie-switch", 2) + link("host-bridge", 4, False)),
    "hard-16": ("两组服务器，每组八个设备，同一位置的设备之间有链路，标题很长需要换行显示才可以", 16,
                link("hccs", 8) + link("pcie-switch", 8, False, "position")),
    "hard-2": ("Two", 2, link("host-bridge", 2, False)),
    "hard-33": ("Every kind", 33, "".join(link(kind, group) for kind, group in
                                          [("sio", 2), ("hccs", 5), ("hccs-switch", 9), ("pcie-switch", 12),
                                           ("host-bridge", 17), ("system", 33)])),
}


class Case(unittest.TestCase):
    belay = ""

    def setUp(self):
        self.work = Path(tempfile.mkdtemp(prefix="belay_topo_"))
        self.addCleanup(shutil.rmtree, self.work)

    def call(self, *words):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("BELAY")}
        return subprocess.run([self.belay, *map(str, words)], capture_output=True, text=True, env=clean, cwd=self.work)

    def topo(self, *words):
        done = self.call("topo", *words)
        self.assertEqual(done.returncode, 0, done)
        return done

    def hard(self, name):
        title, devices, links = HARD[name]
        text = (ROOT / "products" / "atlas-800t-a2.toml").read_text()
        text = re.sub(r"\ntitle = .*", f'\ntitle = "{title}"', text)
        text = re.sub(r"\nname = .*", f'\nname = "{name}"', text)
        text = re.sub(r"count = \{ value = \d+", f"count = {{ value = {devices}", text)
        text = text[:text.index("[[links]]")] + links.strip() + "\n"
        path = self.work / f"{name}.toml"
        path.write_text(text)
        return path

    def pictures(self):
        """{name: SVG text} of all machines."""
        machines = {name: ["--product", name] for name in PRODUCTS}
        machines |= {name: ["--product", self.hard(name)] for name in HARD}
        machines |= {"three nodes": ["--product", "atlas-300i-duo", "--devices", "20"], "part": ["--devices", "3"],
                     "part of a row": ["--product", "atlas-900-a3", "--devices", "13"]}
        found = {}
        for name, options in machines.items():
            file = self.work / "picture.svg"
            done = self.topo("--svg", file, *options)
            self.assertIn(f"wrote {file}", done.stderr)
            found[name] = file.read_text()
        return found


class Text(Case):
    def test_pairs_of_a_server_with_switches(self):
        out = self.topo("--product", "atlas-300i-pro").stdout
        rows = [line.split() for line in out.splitlines() if re.match(r" +\d+ +(\.|PIX|phb)", line)]
        self.assertEqual(rows[3], "3 PIX PIX PIX . phb phb phb phb".split())
        self.assertEqual(len(rows), 8)
        self.assertRegex(out, r"(?m)^PIX +PCIe switch +groups of 4 +12 GB/s \(assumed\) +20 us \(assumed\) +possible$")
        self.assertRegex(out, r"(?m)^phb .* no$")

    def test_measured(self):
        self.assertRegex(self.topo("--product", "atlas-900-a3").stdout, r"(?m)^SIO .*186\.6 GB/s \(measured\)")

    def test_no_links(self):
        self.assertIn("no links, no peer access", self.topo("--product", "atlas-200i-500-a2").stdout)

    def test_nodes(self):
        self.assertIn("20 devices: copies of this node of 8", self.topo("--devices", "20").stdout)

    def test_json(self):
        facts = json.loads(self.topo("--json", "--product", "atlas-900-a3").stdout)
        self.assertEqual((facts["devices"], len(facts["pairs"])), (16, 120))
        self.assertEqual(facts["pairs"][0], {"devices": [0, 1], "kind": "sio", "peer": True,
                                             "bandwidth_gbps": {"value": 186.6, "source": "measured"},
                                             "latency_us": {"value": 12.5, "source": "measured"}})


class Refusals(Case):
    def refused(self, text, *words):
        done = self.call("topo", *words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertIn(text, done.stderr)

    def test_refused(self):
        self.refused("cannot write '/no/such/x.svg': No such file", "--svg", "/no/such/x.svg")
        self.refused("needs a value", "--svg")
        self.refused("'x'", "x")
        self.refused("there is no product", "--product", "x")
        self.refused("'devcies'", "--devcies", "3")
        HARD["hard-65"] = ("t", 65, link("hccs", 65))
        self.addCleanup(HARD.pop, "hard-65")
        self.refused("room for 64 devices a node", "--svg", "x.svg", "--product", self.hard("hard-65"))
        self.assertFalse((self.work / "x.svg").exists())

    def test_a_full_disk(self):
        if os.path.exists("/dev/full"):
            self.refused("cannot write '/dev/full'", "--svg", "/dev/full")


def columns(text):
    return sum(2 if ord(letter) >= 0x800 else 1 for letter in text)


class Picture(Case):
    def test_every_picture(self):
        for name, text in self.pictures().items():
            with self.subTest(name):
                self.check(ElementTree.fromstring(text))

    def check(self, svg):
        width, height = map(float, svg.get("viewBox").split()[2:])
        self.assertEqual(width, WIDTHS[0])
        boxes = []
        for text in svg.iter(SVG + "text"):
            size = float(text.get("font-size"))
            self.assertGreaterEqual(size, SMALLEST)
            wide = 0.602 * size * columns(text.text)
            x = float(text.get("x")) - wide * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
            y = float(text.get("y"))
            boxes.append((x, y - 0.8 * size, x + wide, y + 0.2 * size, text.text))
        for a in boxes:
            self.assertTrue(0 <= a[0] and a[2] <= width and 0 <= a[1] and a[3] <= height, a)
            for b in boxes:
                self.assertTrue(a is b or a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (a, b))

    def test_what_it_says(self):
        pictures = {name: " ".join(ElementTree.fromstring(text).itertext()) for name, text in self.pictures().items()}
        for name in PRODUCTS:
            words = " ".join(pictures[name].split())
            self.assertIn(name, words)
            self.assertIn("Legend", words)
            facts = json.loads(self.topo("--json", "--product", name).stdout)
            self.assertIn(f" {facts['devices'] - 1} ", words)
            for pair in facts["pairs"]:
                self.assertIn(f"{pair['bandwidth_gbps']['value']:g} GB/s ({pair['bandwidth_gbps']['source']})", words)
                self.assertIn(f"{pair['latency_us']['value']:g} us", words)
                self.assertIn("peer access" if pair["peer"] else "no peer access", words)
        self.assertIn("copies of this node of 8", " ".join(pictures["three nodes"].split()))
        self.assertIn("unknown GB/s", " ".join(pictures["hard-20"].split()))
        self.assertIn("same place in groups of 8", " ".join(pictures["hard-16"].split()))


# Measures each picture in its own <div>; the result is the page's only text afterwards.
SCRIPT = """
const found = [];
for (const holder of document.querySelectorAll('div')) {
  const svg = holder.querySelector('svg'), frame = svg.getBoundingClientRect();
  const scale = frame.width / svg.viewBox.baseVal.width;
  const say = (text) => found.push(holder.id + ': ' + text);
  if (frame.width > holder.getBoundingClientRect().width + 0.5) say('wider than its place');
  const texts = [...svg.querySelectorAll('text')].map((node) => [node, node.getBoundingClientRect()]);
  if (texts.length < 3) say('no text');
  for (const [node, box] of texts) {
    const size = parseFloat(getComputedStyle(node).fontSize) * scale;
    if (size < SMALLEST) say(node.textContent + ' has ' + size + ' pixels');
    const around = node.parentNode.classList.contains('box') ? node.parentNode.querySelector('rect').getBoundingClientRect() : frame;
    if (box.left < around.left || box.right > around.right || box.top < around.top || box.bottom > around.bottom)
      say(node.textContent + ' leaves its box');
  }
  for (let i = 0; i < texts.length; ++i) for (let j = 0; j < i; ++j) {
    const a = texts[i][1], b = texts[j][1];
    if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
      say(texts[i][0].textContent + ' overlaps ' + texts[j][0].textContent);
  }
}
const count = document.querySelectorAll('svg').length;
document.body.textContent = JSON.stringify({count, found});
"""


class Browser(Case):
    def setUp(self):
        super().setUp()
        if shutil.which("chromium") is None:
            # ctest reads this line; unittest keeps its reason to itself.
            print("chromium is missing: `apt-get install chromium fonts-dejavu-core`, or scripts/test --all")
            self.skipTest("chromium is missing")

    def measure(self, pictures):
        page = '<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0">'
        for width in WIDTHS:
            for name, text in pictures.items():
                page += f'<div id="{name}, {width}" style="width: {width}px">{text}</div>'
        file = self.work / "page.html"
        file.write_text(page + f"<script>{SCRIPT.replace('SMALLEST', str(SMALLEST))}</script></body>")
        command = [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.work}/profile",
                   "--dump-dom", file.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, env={**os.environ, "HOME": str(self.work)})
        body = re.search(r"<body[^>]*>(\{.*\})</body>", done.stdout, re.DOTALL)
        self.assertTrue(body, done.stdout[-500:] + done.stderr[-500:])
        return json.loads(html.unescape(body.group(1)))

    def test_every_picture(self):
        pictures = self.pictures()
        result = self.measure(pictures)
        self.assertEqual(result["count"], len(WIDTHS) * len(pictures))
        self.assertEqual(result["found"], [])

    def test_it_would_notice(self):
        bad = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 390 50" width="100%"><text x="5" y="20" font-size="12">one'
               '</text><text x="12" y="22" font-size="12">two</text><text x="200" y="20" font-size="10">tiny</text>'
               '<text x="380" y="40" font-size="12">out</text></svg>')
        found = " ".join(self.measure({"bad": bad})["found"])
        for text in ("bad, 390: two overlaps one", "tiny has 10", "out leaves its box", "bad, 1280: two overlaps one"):
            self.assertIn(text, found)


if __name__ == "__main__":
    Case.belay = os.path.abspath(sys.argv.pop(1))
    unittest.main()
