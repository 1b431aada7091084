#!/usr/bin/env python3
"""The command `belay` as users and scripts see it. tool_test.py BELAY PROGRAMS [CASE...]"""
import json
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

TIMEOUT_S = 30


class Case(unittest.TestCase):
    belay: Path
    programs: Path

    def setUp(self):
        self.work = Path(tempfile.mkdtemp(prefix="belay_tool_"))
        self.addCleanup(shutil.rmtree, self.work)
        self.subject = self.programs / "subject"
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith("BELAY") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

    def call(self, *words, env=None):
        environment = {**self.environment, **(env or {})}
        return subprocess.run([str(self.belay), *map(str, words)], env=environment, cwd=self.work, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)

    def run_subject(self, *options, mode=("ok",), env=None):
        return self.call("run", *options, "--", self.subject, *mode, env=env)

    def refused(self, done, *texts):
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "", done)
        for text in texts:
            self.assertIn(text, done.stderr)


class Run(Case):
    def test_last_line(self):
        done = self.run_subject()
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done)
        self.assertRegex(done.stderr, r"\Abelay: 0 errors, 0 warnings, [1-9]\d* calls?, 0 copies, 0 bytes, 1 of 8 devices\n\Z")

    def test_last_line_names_what_there_was(self):
        done = self.run_subject("--report", "a.json", "--report", "b.json", mode=["bad"])
        last = done.stderr.splitlines()[-1]
        self.assertRegex(last, r"^belay: 1 error, .*, report a\.json, report b\.json$")

    def test_last_line_hints_at_what_nobody_guarded(self):
        """As soon as its advice can be taken."""
        def last(*options, copies):
            done = self.run_subject(*options, mode=["copies", copies])
            self.assertEqual(done.returncode, 0, done)
            return done.stderr.splitlines()[-1]

        hint = "; 7 asynchronous host copies were not guarded: try --check full"
        can_guard = self.run_subject("--check", "full").returncode == 0
        if not can_guard:
            self.assertNotIn("guarded", last(copies=7))
            return
        for check in ("basic", "off"):
            self.assertTrue(last("--check", check, copies=7).endswith(hint))
        self.assertTrue(last(copies=1).endswith("; 1 asynchronous host copy was not guarded: try --check full"))
        self.assertNotIn("guarded", last(copies=0))
        self.assertNotIn("guarded", last("--check", "full", copies=7))
        self.assertNotIn("guarded", last("--check", "basic,+host-buffer-gone", copies=7))

    def test_quiet(self):
        self.assertEqual(self.run_subject("--quiet", "on").stderr, "")
        self.assertEqual(self.run_subject("--quiet").stderr, "")
        self.assertNotIn("1 error,", self.run_subject("--quiet", mode=["bad"]).stderr)

    def test_loading_is_enough(self):
        self.assertEqual(self.run_subject(mode=["load-only"]).returncode, 0)

    def test_words_of_the_program_are_its_own(self):
        done = self.call("run", self.subject, "exit", "--devices")
        self.assertEqual(done.returncode, 0, "without -- the program starts at the first word that is no option")

    def test_search_path_keeps_what_was_there(self):
        env = {"LD_LIBRARY_PATH": "/some/where"}
        done = self.run_subject(mode=["environment", "LD_LIBRARY_PATH"], env=env)
        self.assertRegex(done.stdout.splitlines()[0], r"^/.*/lib64:/some/where$")

    def test_standard_input_reaches_the_program(self):
        done = subprocess.run([str(self.belay), "run", "--", "/bin/sh", "-c", f"cat; exec {self.subject}"], text=True,
                              input="typed\n", capture_output=True, env=self.environment, timeout=TIMEOUT_S)
        self.assertEqual(done.stdout, "typed\ndone\n")

    def test_found_in_path(self):
        done = self.call("run", "--", "subject", env={"PATH": f"{self.programs}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done)

    def test_children_count_too(self):
        done = self.call("run", "--", "/bin/sh", "-c", f"{self.subject}; {self.subject} bad; true")
        self.assertEqual(done.returncode, 87, done)
        self.assertIn("1 error,", done.stderr)


class ExitCodes(Case):
    def test_own_code(self):
        for code in (0, 3, 255):
            self.assertEqual(self.run_subject(mode=["exit", code]).returncode, code)

    def test_findings(self):
        self.assertEqual(self.run_subject(mode=["bad"]).returncode, 87)
        self.assertEqual(self.run_subject("--findings-exit-code", 5, mode=["bad"]).returncode, 5)
        self.assertEqual(self.run_subject("--findings-exit-code", 0, mode=["bad"]).returncode, 0)
        self.assertEqual(self.run_subject("--check", "off", mode=["bad"]).returncode, 0)

    def test_signals(self):
        self.assertEqual(self.run_subject(mode=["abort"]).returncode, 128 + signal.SIGABRT)
        done = self.run_subject(mode=["kill"])
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertIn("ended by SIGKILL; 1 error, ", done.stderr)

    def test_program_that_does_not_start(self):
        done = self.call("run", "--", "no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr, "belay: error: there is no program 'no-such-program' in PATH; "
                                      "one in this directory is ./no-such-program\n")
        self.assertEqual(self.call("run", "--", "./no-such-program").returncode, 127)
        file = self.work / "data"
        file.write_text("no program\n")
        done = self.call("run", "--", file)
        self.assertEqual(done.returncode, 126)
        self.assertIn("cannot be executed: Permission denied", done.stderr)
        file.write_text("#!/no/such/interpreter\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        done = self.call("run", "--", file)
        self.assertEqual(done.returncode, 127)
        self.assertIn("needs an interpreter that does not exist", done.stderr)
        self.assertEqual(self.call("run", "--", self.work).returncode, 126)


class Signals(Case):
    def start(self):
        self.process = subprocess.Popen([str(self.belay), "run", "--", str(self.subject), "signals"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment,
                                        start_new_session=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.stderr.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.end, self.process.pid)
        self.assertEqual(self.line(), "ready\n")

    def end(self, group):
        """The tool and its program, if they are still there."""
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def line(self):
        ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT_S)
        self.assertTrue(ready, "the program says nothing")
        return self.process.stdout.readline()

    def test_forwarded(self):
        self.start()
        for number in (signal.SIGINT, signal.SIGUSR1, signal.SIGINT):
            self.process.send_signal(number)
            self.assertEqual(self.line(), f"got {int(number)}\n")
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=TIMEOUT_S)
        self.assertEqual((out, self.process.returncode), ("got 15\n", 9))
        self.assertRegex(err, r"\Abelay: 0 errors, .*\n\Z")

    def at_terminal(self, mode):
        """Starts a run in a terminal of its own; returns its process, the terminal, and what reads up to a text."""
        child, terminal = pty.fork()
        if child == 0:
            os.execve(str(self.belay), [str(self.belay), "run", "--", str(self.subject), mode], self.environment)
        self.addCleanup(os.close, terminal)
        self.addCleanup(self.end, child)  # the leader of a session of its own
        seen = b""

        def read_until(text):
            nonlocal seen
            while text not in seen:
                ready, _, _ = select.select([terminal], [], [], TIMEOUT_S)
                self.assertTrue(ready, seen)
                try:
                    block = os.read(terminal, 4096)
                except OSError:  # the other side closed
                    block = b""
                self.assertTrue(block, seen)
                seen += block
            return seen

        read_until(b"ready\r\n")
        return child, terminal, read_until

    def test_a_key_at_the_terminal_arrives_once(self):
        child, terminal, read_until = self.at_terminal("signals")
        os.write(terminal, b"\x03")
        read_until(b"got 2\r\n")
        # Sent one after the other, a second SIGINT would be seen before this one.
        os.kill(child, signal.SIGTERM)
        seen = read_until(b"devices\r\n")
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 9)
        self.assertEqual(seen.count(b"got 2\r\n"), 1, seen)

    def test_a_key_that_ends_the_program_leaves_the_last_line(self):
        child, terminal, read_until = self.at_terminal("wait")
        os.write(terminal, b"\x03")
        read_until(b"belay: ended by SIGINT; 0 errors, ")
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 128 + signal.SIGINT)

    def test_ignored_stays_ignored(self):
        script = f"trap '' INT; {self.belay} run -- /bin/sh -c 'kill -INT $$; exec {self.subject}'"
        done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, env=self.environment,
                              timeout=TIMEOUT_S)
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done)


class Options(Case):
    def devices(self, *options, env=None):
        done = self.run_subject(*options, mode=["devices"], env=env)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.splitlines()[0]

    def test_precedence(self):
        config = self.work / "belay.toml"
        config.write_text("devices = 5\n")
        env = {"BELAY_CONFIG": str(config)}
        self.assertEqual(self.devices(), "8")
        self.assertEqual(self.devices(env=env), "5")
        env["BELAY"] = "devices=4"
        self.assertEqual(self.devices(env=env), "4")
        self.assertEqual(self.devices("--devices", "3", env=env), "3")
        self.assertEqual(self.devices("--devices=2", env=env), "2")

    def test_an_outer_run_does_not_reach_in(self):
        self.assertEqual(self.devices(env={"BELAY_CLI": "devices=6", "BELAY_RUN": "/nonexistent"}), "8")

    def test_bad_options(self):
        self.refused(self.run_subject("--devcies", "3"), "the command line: there is no option 'devcies'", "devices")
        self.refused(self.run_subject("--devices", "0"), "'devices': '0' must be a whole number from 1 to 1024")
        self.refused(self.run_subject("--devices"), "the option --devices needs a value: 1..1024")
        self.refused(self.run_subject("--check", "basic,+ipc-denied"), "the command line: check: 'ipc-denied' is not built yet")
        self.refused(self.run_subject("--check", "basic,-use-after-fre"), "the nearest are use-after-free")
        self.refused(self.run_subject("--product", "atlas-800t-a3"), "atlas-800t-a2")
        self.refused(self.run_subject("--report", "x.html"), "not built yet")
        self.refused(self.run_subject("--trace", "x.json"), "not built yet")
        self.refused(self.run_subject("--suppress", "/no/such/file"), "the command line: suppress: cannot read")
        self.refused(self.run_subject("-x"), "'-x' is no option")
        self.refused(self.call("run", "--devices", "3"), "no program")
        self.refused(self.call("run"), "no program")

    def test_bad_places(self):
        self.refused(self.run_subject(env={"BELAY": "devcies=3"}), "BELAY: there is no option 'devcies'", "devices")
        self.refused(self.run_subject(env={"BELAY": "check=+ipc-denied"}), "BELAY: check: 'ipc-denied' is not built yet")
        config = self.work / "belay.toml"
        config.write_text("hbm = \"lots\"\n")
        self.refused(self.run_subject(env={"BELAY_CONFIG": str(config)}), "belay.toml", "hbm", "lots")
        self.refused(self.run_subject(env={"BELAY_CONFIG": "/no/such.toml"}), "/no/such.toml")

    def test_suppressions(self):
        (self.work / "list").write_text("duble-free:main\n")
        self.refused(self.run_subject("--suppress", "list"), "list:1: there is no finding 'duble-free'", "double-free")
        (self.work / "list").write_text("*:main\n")
        self.assertEqual(self.run_subject("--suppress", "list", mode=["bad"]).returncode, 0)

    def test_blanks_in_values(self):
        folder = self.work / "a 'folder'; with blanks"
        folder.mkdir()
        (folder / "list").write_text("*:main\n")
        done = self.run_subject("--suppress", folder / "list", "--report", folder / "r.json", mode=["bad"])
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue((folder / "r.json").exists())


class NotLoaded(Case):
    def not_loaded(self, *words, texts=()):
        done = self.call("run", "--", *words)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("no process of this run loaded /", done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        return done

    def test_rpath(self):
        self.not_loaded(self.programs / "rpath", texts=[
            f"The loader took '{self.programs}/foreign/libascendcl.so' instead", f"RPATH '{self.programs}/foreign",
            "patchelf --remove-rpath"])

    def test_opened_by_path(self):
        done = self.not_loaded(self.programs / "opener", self.programs / "foreign" / "libascendcl.so",
                               texts=["does not link libascendcl.so"])
        self.assertEqual(done.stdout, "77\n", "the other library was opened")
        self.not_loaded(self.programs / "absolute", texts=["It contains '/opt/elsewhere/lib64/libascendcl.so'"])

    def test_opened_by_name(self):
        done = self.call("run", "--devices", 3, "--", self.programs / "opener", "libascendcl.so")
        self.assertEqual((done.returncode, done.stdout), (0, "3\n"), done)

    def test_nothing_to_do_with_it(self):
        self.not_loaded("/bin/true", texts=["the program exited with 0", "does not link libascendcl.so", "-lascendcl"])
        script = self.work / "script"
        script.write_text("#! /bin/sh\nexit 4\n")
        script.chmod(0o755)
        self.not_loaded(script, texts=["the program exited with 4", "'/bin/sh' runs it as a script"])

    def test_static(self):
        if not (self.programs / "static").exists():
            self.skipTest("sanitized programs are never static")
        self.not_loaded(self.programs / "static", texts=["is linked statically"])

    def test_the_report_is_written_all_the_same(self):
        self.call("run", "--report", "r.json", "--", "/bin/true")
        report = json.loads((self.work / "r.json").read_text())
        self.assertEqual(report["profile"], {"product": None, "cann": None, "devices": None})


class Reports(Case):
    KEYS = {"belay", "schema", "command", "exit_status", "profile", "findings", "faults", "resources"}
    FINDING_KEYS = {"id", "severity", "message", "count", "api", "thread", "device", "stream", "site", "related", "rule",
                    "fix"}
    SITE_KEYS = {"function", "file", "line", "module", "offset"}

    def report(self, mode):
        done = self.run_subject("--report", "r.json", mode=mode)
        report = json.loads((self.work / "r.json").read_text())
        self.assertEqual(set(report), self.KEYS)
        self.assertEqual(report["schema"], 1)
        self.assertRegex(report["belay"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(report["command"], [str(self.subject), *mode])
        self.assertEqual(set(report["profile"]), {"product", "cann", "devices"})
        for finding in report["findings"]:
            self.assertEqual(set(finding), self.FINDING_KEYS)
            self.assertEqual(set(finding["site"]), self.SITE_KEYS)
        self.assertEqual([p.name for p in self.work.iterdir()], ["r.json"], "no temporary file is left")
        return done, report

    def test_complete_also_when_the_program_dies(self):
        for mode, status in (("bad", 0), ("abort", 134), ("kill", 137)):
            done, report = self.report([mode])
            self.assertEqual(report["exit_status"], status)
            self.assertEqual(done.returncode, status or 87)
            self.assertEqual([f["severity"] for f in report["findings"]], ["error"])
            finding = report["findings"][0]
            self.assertEqual(finding["api"], "aclrtSetDevice")
            self.assertEqual(finding["site"]["module"], str(self.subject))
            self.assertEqual(report["profile"]["devices"], 8)
            (self.work / "r.json").unlink()

    def test_written_where_the_run_started(self):
        self.report(["chdir", "/"])

    def test_cannot_be_written(self):
        done = self.run_subject("--report", "/no/such/folder/r.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("report: cannot write '/no/such/folder/r.json': No such file or directory", done.stderr)


class Log(Case):
    def test_what_a_call_left_behind_its_pointers(self):
        done = self.run_subject("--log", "log.jsonl", mode=["stream"])
        self.assertEqual(done.returncode, 87, done)
        lines = [json.loads(line) for line in (self.work / "log.jsonl").read_text().splitlines()]
        calls = {line["api"]: line for line in lines}
        stream = calls["aclrtCreateStream"]["out"]["stream"]
        self.assertRegex(stream, r"^0x[0-9a-f]+$")
        self.assertEqual(calls["aclrtStreamGetId"]["args"]["stream"], stream)
        self.assertEqual(calls["aclrtStreamGetId"]["out"], {"streamId": 1})
        self.assertEqual(calls["aclrtStreamQuery"]["out"], {"status": 0})
        # Nothing to leave, or not left.
        self.assertEqual(calls["aclrtGetDevice"]["code"], 100000)
        for api in ("aclInit", "aclrtDestroyStream", "aclrtGetDevice"):
            self.assertNotIn("out", calls[api])


class Doctor(Case):
    def test_text(self):
        done = self.call("doctor", "--devices", "3", env={"BELAY": "cann=8.5"})
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"(?m)^  devices +3 +from the command line$")
        self.assertRegex(done.stdout, r"(?m)^  cann +8\.5 +from BELAY$")
        self.assertRegex(done.stdout, r"(?m)^  check +basic +from the default$")
        self.assertRegex(done.stdout, r"(?m)^  commands +info, bw, explore, play$")

    def test_json(self):
        done = self.call("doctor", "--json")
        facts = json.loads(done.stdout)
        self.assertEqual(facts["options"][0], {"name": "product", "value": "atlas-800t-a2", "from": "the default"})
        self.assertIn("ipc-denied", facts["not_built"]["findings"])
        self.assertEqual(facts["machine"]["devices"], 8)
        self.assertTrue(facts["here"]["library_found"])
        self.assertGreater(facts["here"]["host_memory_bytes"], 0)

    def test_bad_option(self):
        done = self.call("doctor", "--devices", "none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'devices': 'none'", done.stderr)
        self.assertIn("This machine", done.stdout)
        self.refused(self.call("doctor", "x"), "doctor runs no program")


class Explain(Case):
    def test_code(self):
        for name in ("107000", "ACL_ERROR_RT_PARAM_INVALID"):
            done = self.call("explain", name)
            self.assertIn("107000 ACL_ERROR_RT_PARAM_INVALID", done.stdout)
        self.assertEqual(json.loads(self.call("explain", "--json", "107000").stdout)["code"], 107000)
        self.refused(self.call("explain", "123456789"), "123456789")

    def test_finding(self):
        done = self.call("explain", "peer-not-enabled")
        self.assertIn("peer-not-enabled (finding, error)", done.stdout)
        self.assertIn("The rule", done.stdout)
        self.assertNotIn("int main", done.stdout)
        self.assertIn("int main", self.call("explain", "--page", "peer-not-enabled").stdout)
        self.assertIn("not built yet", self.call("explain", "ipc-denied").stdout)
        self.assertEqual(len(json.loads(self.call("explain", "--json").stdout)), 33)

    def test_every_built_finding_has_a_page(self):
        not_built = json.loads(self.call("doctor", "--json").stdout)["not_built"]["findings"]
        for finding in json.loads(self.call("explain", "--json").stdout):
            done = self.call("explain", finding["id"])
            self.assertIn(f"{finding['id']} (finding, {finding['severity']})", done.stdout)
            self.assertEqual("not built yet" in done.stdout, finding["id"] in not_built, finding["id"])
            self.assertEqual("The rule" in done.stdout, finding["id"] not in not_built, finding["id"])

    def test_function(self):
        done = self.call("explain", "aclrtMemcpy")
        self.assertIn("aclError aclrtMemcpy(", done.stdout)
        self.assertIn("state: implemented", done.stdout)
        self.assertEqual(json.loads(self.call("explain", "--json", "aclrtMemcpy").stdout)["state"], "implemented")

    def test_unknown(self):
        self.refused(self.call("explain", "aclrtMempcy"), "aclrtMemcpy")
        self.refused(self.call("explain", "a", "b"), "takes one")


def numbers(node):
    """(value, source, note) of every number below a node of a product file or of its JSON."""
    if isinstance(node, dict) and "source" in node:
        value = node["value"]
        if isinstance(value, str):
            unit = {"MiB": 20, "GiB": 30}[value[-3:]]
            value = int(value[:-3]) << unit
        return [(value, node["source"], node.get("note") or "")]
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return [number for child in children for number in numbers(child)]


class Products(Case):
    def test_list(self):
        done = self.call("products")
        self.assertRegex(done.stdout, r"(?m)^atlas-800t-a2 +8 ")
        names = [product["name"] for product in json.loads(self.call("products", "--json").stdout)]
        self.assertIn("atlas-800t-a2", names)
        for name in names:
            self.assertEqual(self.run_subject("--product", name).returncode, 0)
        self.refused(self.call("products", "x"), "there is no product 'x'")
        self.refused(self.call("products", "--x"), "'--x'")
        self.refused(self.call("products", "a", "b"), "one name")

    def test_one(self):
        """Every number of a product file is shown with the source that the file gives."""
        for path in sorted((Path(__file__).resolve().parents[2] / "products").glob("*.toml")):
            file = tomllib.loads(path.read_text())
            facts = json.loads(self.call("products", "--json", path.stem).stdout)
            shown = self.call("products", path.stem).stdout
            self.assertEqual(sorted(numbers(file)), sorted(numbers(facts)), path.name)
            rows = re.findall(r"(?m)^\S+ +\S+ +(doc|measured|assumed) ", shown + " ")
            self.assertEqual(len(rows), len(numbers(file)), shown)
        self.assertRegex(shown := self.call("products", "atlas-900-a3").stdout,
                         r"(?m)^links\[0\]\.bandwidth_gbps +186\.6  measured  SDMA")
        self.assertRegex(shown, r"(?m)^memory_bytes +61GiB  measured ")
        self.assertRegex(self.call("products", "atlas-800t-a2").stdout, r"(?m)^limits\.8\.1\.streams +2048  doc ")
        self.assertEqual(self.call("products", path).stdout, self.call("products", path.stem).stdout)


class Help(Case):
    def test_help(self):
        self.assertIn("Example", self.call("--help").stdout)
        for command in ("run", "doctor", "explain", "products", "topo"):
            done = self.call(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertIn("Example", done.stdout)
        for option in ("product", "findings-exit-code", "color"):
            self.assertIn(f"--{option} ", self.call("run", "--help").stdout)
        self.assertRegex(self.call("--version").stdout, r"^belay \d+\.\d+\.\d+\n$")

    def test_not_built(self):
        for command in ("info", "bw", "explore", "play"):
            self.refused(self.call(command, "--help"), f"the command '{command}' is not built yet")

    def test_wrong(self):
        self.refused(self.call("prodcts"), "there is no command 'prodcts'; the nearest are products")
        self.refused(self.call())


if __name__ == "__main__":
    Case.belay, Case.programs = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
