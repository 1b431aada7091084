"""Programs outside the tree, built and run against an install prefix: install_test.py BUILD_DIR CASE."""
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
