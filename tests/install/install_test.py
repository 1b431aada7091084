"""Programs outside the tree, built and run against an install prefix: install_test.py BUILD_DIR CASE."""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
ROOT = HERE.parents[1]
ARCH = platform.machine()


class Outside(unittest.TestCase):
    build: Path = None

    def setUp(self):
        self.prefix = self.build / "tests" / "install" / "prefix"
        self.lib = self.prefix / "lib64" / "libascendcl.so"
        # Outside the tree, so that nothing is found by a path that only holds here.
        self.work = Path(subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip())
        self.addCleanup(shutil.rmtree, self.work)

    def run_ok(self, *command, env=None, cwd=None):
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.work), "LC_ALL": "C", **(env or {})}
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=clean, cwd=cwd or self.work)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run_program(self, *command):
        out = self.run_ok(*command, env={"LD_LIBRARY_PATH": str(self.prefix / "lib64")})
        self.assertIn("bytes verified", out)

    def compile(self, *command):
        self.run_ok(*command, f"-I{self.prefix}/include", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


class Prefix(Outside):
    def test_install(self):
        shutil.rmtree(self.prefix, ignore_errors=True)
        self.run_ok("cmake", "--install", self.build, "--prefix", self.prefix)
        self.assertTrue(self.lib.exists())


class Tree(Outside):
    def test_places(self):
        for place in ["bin/belay", "bin/setenv.bash", "set_env.sh", "include/acl/acl.h", "include/acl/acl_rt.h", "version.cfg",
                      "bin/npu-smi", "lib64/libhccl.so", "lib64/libruntime.so", "lib64/libopapi.so", "acllib/include/acl/acl.h",
                      "lib64/libascendcl.so", "lib64/libacl_rt.so", "lib64/cmake/belay/belay-config.cmake",
                      "share/belay/products/atlas-800t-a2.toml", "share/doc/belay/LICENSE",
                      f"{ARCH}-linux/include/acl/acl.h", f"{ARCH}-linux/lib64/libascendcl.so",
                      f"{ARCH}-linux/devlib/libascendcl.so", f"{ARCH}-linux/ascend_toolkit_install.info"]:
            self.assertTrue((self.prefix / place).exists(), place)

    def test_headers_of_the_tree(self):
        for header in (ROOT / "include").rglob("*.h"):
            copy = self.prefix / "include" / header.relative_to(ROOT / "include")
            self.assertEqual(copy.read_bytes(), header.read_bytes(), header)

    def test_links_are_relative(self):
        for path in self.prefix.rglob("*"):
            if path.is_symlink():
                self.assertFalse(os.path.isabs(os.readlink(path)), path)
                self.assertTrue(path.exists(), f"{path} leads nowhere")

    def test_versions(self):
        self.assertRegex((self.prefix / "version.cfg").read_text(), r"(?m)^runtime_running_version=\[\d+\.\d+\.\d+:")
        self.assertRegex((self.prefix / f"{ARCH}-linux/ascend_toolkit_install.info").read_text(), r"(?m)^version=\d+\.\d+\.\d+$")


class C11(Outside):
    def test_copy(self):
        self.compile("gcc", "-std=c11", PROGRAMS / "copy.c", "-o", self.work / "copy", f"-L{self.prefix}/lib64", "-lascendcl")
        self.run_program(self.work / "copy")

    def test_other_name(self):
        self.compile("gcc", "-std=c11", PROGRAMS / "copy.c", "-o", self.work / "copy", f"-L{self.prefix}/lib64", "-lacl_rt")
        self.run_program(self.work / "copy")


class Cxx17(Outside):
    def test_copy(self):
        source = self.work / "copy.cc"
        shutil.copy(PROGRAMS / "copy.c", source)
        self.compile("g++", "-std=c++17", source, "-o", self.work / "copy", f"-L{self.prefix}/lib64", "-lascendcl")
        self.run_program(self.work / "copy")


class CMakeCase(Outside):
    def configure(self, folder, *options, env=None):
        self.run_ok("cmake", "-G", "Ninja", "-S", PROGRAMS / folder, "-B", self.work / "b", *options, env=env)
        self.run_ok("cmake", "--build", self.work / "b")


class FindPackage(CMakeCase):
    def test_copy(self):
        self.configure("find_package", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_program(self.work / "b" / "copy")

    def test_moved_prefix(self):
        moved = self.work / "elsewhere"
        shutil.copytree(self.prefix, moved, symlinks=True)
        self.configure("find_package", f"-DCMAKE_PREFIX_PATH={moved}")
        self.assertIn(f"{moved}/lib64/libascendcl.so", self.run_ok("ldd", self.work / "b" / "copy"))


class ClientCMake(CMakeCase):
    def test_copy(self):
        self.configure("client", env={"ASCEND_HOME_PATH": str(self.prefix)})
        self.run_program(self.work / "b" / "copy")
        self.run_program(self.work / "b" / "copy_arch")


class Clients(CMakeCase):
    """Builds in the style of each client of libs.md §3 and §4: they probe the same files and variables."""

    def client(self, name, *options, **env):
        self.configure(f"clients/{name}", *options, env=env)
        self.run_program(self.work / "b" / "copy")
        needed = self.run_ok("readelf", "-dW", self.work / "b" / "copy")
        self.assertIn("[libascendcl.so]", needed)

    def test_llama_cpp(self):
        path = f"{self.prefix}/bin:{os.environ['PATH']}"
        for variable in ("CANN_INSTALL_DIR", "ASCEND_TOOLKIT_HOME"):
            self.client("llama_cpp", PATH=path, **{variable: str(self.prefix)})
            shutil.rmtree(self.work / "b")
        self.client("llama_cpp", f"-DCANN_INSTALL_DIR={self.prefix}", PATH=path)

    def test_home_path(self):
        for name in ("vllm_ascend", "mooncake", "ksana"):
            with self.subTest(name):
                self.client(name, ASCEND_HOME_PATH=str(self.prefix))
                shutil.rmtree(self.work / "b")

    def test_toolkit_home(self):
        for name in ("opencv", "xllm"):
            with self.subTest(name):
                self.client(name, ASCEND_TOOLKIT_HOME=str(self.prefix))
                shutil.rmtree(self.work / "b")

    def test_infinitensor(self):
        self.client("infinitensor", ASCEND_HOME=str(self.prefix))

    def test_onnxruntime(self):
        self.client("onnxruntime", f"-Donnxruntime_CANN_HOME={self.prefix}")

    def test_paddle(self):
        """The user makes the link that the vendor's installer would make."""
        (self.work / "Ascend" / "ascend-toolkit").mkdir(parents=True)
        (self.work / "Ascend" / "ascend-toolkit" / "latest").symlink_to(self.prefix)
        self.client("paddle", ASCEND_CUSTOM_PATH=str(self.work / "Ascend"))

    def test_samples(self):
        self.client("samples", DDK_PATH=str(self.prefix), NPU_HOST_LIB=f"{self.prefix}/{ARCH}-linux/devlib")

    def test_flagcx(self):
        self.run_ok("make", "-C", PROGRAMS / "clients" / "flagcx", f"DEVICE_HOME={self.prefix}", f"OUT={self.work}")
        self.run_program(self.work / "copy")

    def test_setup_py(self):
        """In the style of LMCache-Ascend: sources set_env.sh, then reads the version of the tree per architecture."""
        home = self.run_ok("bash", "-euc", '. "$1/set_env.sh"; echo "$ASCEND_HOME_PATH"', "x", self.prefix).strip()
        info = (Path(home) / f"{ARCH}-linux" / "ascend_toolkit_install.info").read_text()
        self.assertRegex(info, r"(?m)^version=9\.0\.0$")

    def test_memfabric(self):
        self.compile("gcc", "-std=gnu11", PROGRAMS / "lookup.c", "-o", self.work / "lookup", f"-L{self.prefix}/lib64", "-lascendcl", "-ldl")
        self.run_program(self.work / "lookup")


class NpuSmi(Outside):
    def table(self, *command, **env):
        return self.run_ok(*command, env=env).splitlines()

    def test_row_7_column_3(self):
        tool = self.prefix / "bin" / "npu-smi"
        self.assertEqual(self.table(tool, "info")[6].split()[1:3], ["0", "910B3"])
        lines = self.table(tool, "info", BELAY="product=atlas-300i-duo")
        self.assertEqual(lines[6].split()[2], "310P3")
        self.assertEqual({len(line) for line in lines}, {98})
        self.assertEqual(len([line for line in lines if "310P3" in line]), 8)
        # Below `belay run` it is the machine of the run, which is one of a program that loads the library.
        self.compile("gcc", "-std=c11", PROGRAMS / "copy.c", "-o", self.work / "copy", f"-L{self.prefix}/lib64", "-lascendcl")
        lines = self.table(self.prefix / "bin" / "belay", "run", "--product", "atlas-900-a3", "--", "bash", "-euc",
                           '"$1" info; "$2"', "x", tool, self.work / "copy")
        self.assertEqual(lines[6].split()[2], "910_9391")

    def test_refused(self):
        done = subprocess.run([self.prefix / "bin" / "npu-smi", "info", "-l"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("npu-smi info", done.stderr)


class Hccl(Outside):
    def test_refuses_and_says_so_once(self):
        self.run_ok("gcc", PROGRAMS / "hccl.c", "-o", self.work / "hccl", f"-L{self.prefix}/lib64", "-lhccl")
        done = subprocess.run([self.work / "hccl"], capture_output=True, text=True, env={"LD_LIBRARY_PATH": f"{self.prefix}/lib64"})
        self.assertEqual((done.returncode, done.stdout), (0, "HCCL_E_NOT_SUPPORT\n"), done)
        self.assertEqual(done.stderr.count("belay: error: HcclGetRootInfo: this libhccl.so"), 1)
        self.assertEqual(done.stderr.count("belay"), 1)

    def test_names(self):
        lines = self.run_ok("nm", "-D", "--defined-only", self.prefix / "lib64" / "libhccl.so").splitlines()
        names = {line.split()[-1] for line in lines}
        self.assertGreater(len(names), 40)
        self.assertTrue(all(name.startswith("Hccl") for name in names), names)


class DlopenName(Outside):
    NAMES = ["libascendcl.so", "libacl_rt.so"]

    def test_copy(self):
        self.compile("gcc", "-std=gnu11", PROGRAMS / "open.c", "-o", self.work / "open", "-ldl")
        for name in self.NAMES:
            self.run_program(self.work / "open", name)


class DlopenPath(Outside):
    def test_copy(self):
        self.compile("gcc", "-std=gnu11", PROGRAMS / "open.c", "-o", self.work / "open", "-ldl")
        self.assertIn("bytes verified", self.run_ok(self.work / "open", self.lib))


class Exports(Outside):
    """What the library shows and needs."""

    # The C++ and C run time of the compiler and nothing else.
    NEEDED = re.compile(r"lib(stdc\+\+|m|c|gcc_s|dl|pthread|rt)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+")

    def listed(self):
        return set((self.build / "gen" / "belay" / "exports.txt").read_text().split())

    def test_soname_and_needs(self):
        dynamic = self.run_ok("readelf", "-dW", self.lib)
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", dynamic), ["libascendcl.so"])
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            self.assertRegex(name, self.NEEDED)
        self.assertEqual(re.findall(r"\((?:RPATH|RUNPATH)\).*", dynamic), [])
        self.assertRegex(dynamic, r"\(FLAGS_1\).*NODELETE")

    def test_exported_names(self):
        shown = set()
        for line in self.run_ok("nm", "-D", "--defined-only", self.lib).splitlines():
            name = line.split()[-1]
            self.assertNotIn("@", name, "a version node makes unversioned programs and libraries incompatible")
            shown.add(name)
        own = {name for name in shown if name.startswith("belay_")}
        self.assertIn("belay_on_finding", own)
        self.assertEqual(sorted(shown - own - self.listed()), [], "exported but not listed")
        self.assertEqual(sorted(self.listed() - shown), [], "listed but not exported")

    def test_undefined_names(self):
        """Every undefined name is one of the run time's: all others would come from a library of the program."""
        undefined = {line.split()[-1].split("@")[0]: line.split()[-1]
                     for line in self.run_ok("nm", "-D", "--undefined-only", self.lib).splitlines() if " w " not in line}
        stray = [name for name, full in undefined.items() if not re.search(r"@(GLIBC|GLIBCXX|CXXABI|GCC)_", full)]
        self.assertEqual(sorted(stray), [])

    def test_calls_no_public_name(self):
        """A relocation against a public name is a call that an interposer would see."""
        listed = self.listed()
        for line in self.run_ok("readelf", "-rW", self.lib).splitlines():
            fields = line.split()
            if len(fields) >= 5:
                self.assertNotIn(fields[4].split("@")[0], listed, line)


class Tool(Outside):
    def test_run(self):
        self.compile("gcc", "-std=c11", PROGRAMS / "copy.c", "-o", self.work / "copy", f"-L{self.prefix}/lib64", "-lascendcl")
        self.assertIn("bytes verified", self.run_ok(self.prefix / "bin" / "belay", "run", "--", self.work / "copy"))

    def test_moved(self):
        """Library and products are found from the tool's own place."""
        self.compile("gcc", "-std=c11", PROGRAMS / "copy.c", "-o", self.work / "copy", f"-L{self.prefix}/lib64", "-lascendcl")
        moved = self.work / "elsewhere"
        shutil.copytree(self.prefix, moved, symlinks=True)
        out = self.run_ok(moved / "bin" / "belay", "run", "--product", "atlas-300i-duo", "--", self.work / "copy")
        self.assertIn("bytes verified", out)


class Manual(Outside):
    def test_every_command_and_option(self):
        page = (self.prefix / "share" / "man" / "man1" / "belay.1").read_text().replace("\\-", "-")
        self.assertTrue(page.startswith(".TH BELAY 1 "))
        belay = self.prefix / "bin" / "belay"
        for option in json.loads(self.run_ok(belay, "doctor", "--json"))["options"]:
            self.assertRegex(page, rf"(?m)^\.B --{option['name']} ")
        for command in re.findall(r"(?m)^  belay (\w+)", self.run_ok(belay, "--help")):
            self.assertRegex(page, rf"(?m)^\.B belay {command}\b")
        # Every line that starts with a control character is one of the macros that are used.
        self.assertLessEqual({line.split()[0] for line in page.splitlines() if line[:1] in ".'"}, {".TH", ".SH", ".TP", ".PP", ".B", ".br"})


class Environment(Outside):
    def test_set_env(self):
        self.compile("gcc", "-std=c11", PROGRAMS / "copy.c", "-o", self.work / "copy", f"-L{self.prefix}/lib64", "-lascendcl")
        for script in ("set_env.sh", "bin/setenv.bash"):
            out = self.run_ok("bash", "-euc", f'. "$1/{script}"; "$2"; echo "home=$ASCEND_HOME_PATH"; command -v belay', "x",
                              self.prefix, self.work / "copy")
            self.assertIn("bytes verified", out)
            self.assertIn(f"home={self.prefix}", out)
            self.assertIn(f"{self.prefix}/bin/belay", out)


if __name__ == "__main__":
    Outside.build = Path(sys.argv.pop(1)).resolve()
    unittest.main()
