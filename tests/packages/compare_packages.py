"""Compares the packages that a build used with scripts/packages.txt: compare_packages.py SOURCE_DIR BUILD_DIR.

Used: the owners of every system header that a compiler read (ninja's dependency log), of every system library on a link line,
and of every command that scripts and build files start. Each owner must be in the closure of the listed packages, and each listed
package of `build` and `test` must own something that was used.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Commands that the scripts, the build and the tests start.
COMMANDS = {
    "build": ["cmake", "ctest", "ninja", "python3", "g++", "gcc", "c++", "cc", "ar", "ld", "awk", "sed", "grep", "nproc", "mktemp", "tail"],
    "test": ["readelf", "nm", "ldd", "bash", "find", "xargs", "make"],
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def sections(path: Path):
    found, current = {}, None
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            current = found.setdefault(line.strip("[]"), [])
        elif line:
            current.append(line)
    return found


class Installed:
    """The package database of this machine."""

    def __init__(self):
        self.depends, self.provides, self.essential = {}, {}, set()
        form = "${Package}\t${Essential}\t${Priority}\t${Provides}\t${Depends}, ${Pre-Depends}\n"
        for line in output("dpkg-query", "-W", "-f", form).splitlines():
            name, essential, priority, provides, depends = line.split("\t")
            # What a minimal system has: essential packages and those of priority "required".
            if essential == "yes" or priority == "required":
                self.essential.add(name)
            wanted = self.depends.setdefault(name, [])
            for group in depends.split(","):
                choices = [re.sub(r"[\s(:].*", "", choice.strip()) for choice in group.split("|")]
                if any(choices):
                    wanted.append(choices)
            for provided in provides.split(","):
                if provided.strip():
                    self.provides.setdefault(re.sub(r"[\s(:].*", "", provided.strip()), []).append(name)

    def closure(self, names):
        seen, todo = set(), list(names)
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            for choices in self.depends.get(name, []):
                for choice in choices:
                    here = [choice] if choice in self.depends else self.provides.get(choice, [])
                    if here:
                        todo.extend(here)
                        break
        return seen

    def owners(self, files):
        """{file: package}; a file that no package owns is left out."""
        found = {}
        files = sorted(files)
        for start in range(0, len(files), 500):
            names = {}
            for file in files[start:start + 500]:
                names[file] = file
                # Packages still ship some files below /lib and /bin, which are links into /usr.
                if file.startswith("/usr/"):
                    names[file[len("/usr"):]] = file
            done = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True)
            for line in done.stdout.splitlines():
                packages, _, path = line.partition(": ")
                if path in names and not packages.startswith("diversion "):
                    found[names[path]] = packages.split(",")[0].split(":")[0]
        return found


def headers(build: Path):
    found = set()
    for line in output("ninja", "-C", str(build), "-t", "deps").splitlines():
        path = line.strip()
        if line.startswith("    ") and path.startswith("/usr/"):
            found.add(str(Path(path).resolve()))
    return found


def libraries(build: Path):
    text = (build / "build.ninja").read_text()
    found, names = set(), set()
    for line in re.findall(r"^\s*LINK_LIBRARIES = (.*)$", text, re.MULTILINE):
        for word in line.split():
            if word.startswith("/usr/"):
                found.add(str(Path(word).resolve()))
            elif word.startswith("-l"):
                names.add(word[2:])
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE).group(1)
    for name in sorted(names):
        for file in (f"lib{name}.so", f"lib{name}.a"):
            path = output(compiler, f"-print-file-name={file}").strip()
            if path.startswith("/"):
                found.add(str(Path(path).resolve()))
                break
    return found


def commands(names):
    """Each command and what its links lead to."""
    found = set()
    for name in names:
        # The system's own: a newer one that somebody put before it says nothing about packages.
        path = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")
        if path is None:
            sys.exit(f"the command {name} is missing")
        place = Path(path)
        found.add(str(place))
        while place.is_symlink():
            place = place.parent / place.readlink()
            found.add(str(place.parent.resolve() / place.name))
        found.add(str(place.resolve()))
    return found


def main():
    source, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    if shutil.which("dpkg-query") is None:
        print("not a Debian system: nothing to compare with")
        return 0
    listed = sections(source / "scripts" / "packages.txt")
    clang = "clang" in (build / "CMakeCache.txt").read_text().split("CMAKE_CXX_COMPILER:", 1)[1].splitlines()[0]
    names = listed["build"] + listed["test"] + (listed["all"] if clang else [])
    if "BELAY_BENCH:BOOL=ON" in (build / "CMakeCache.txt").read_text():
        names += listed["bench"]
    machine = Installed()
    problems = [f"{name} is listed but not installed" for name in names if name not in machine.depends]

    used = headers(build) | libraries(build) | commands(COMMANDS["build"] + COMMANDS["test"])
    owners = machine.owners(used)
    expected = machine.closure(names) | machine.closure(machine.essential)
    for package in sorted(set(owners.values()) - expected):
        examples = [file for file, owner in sorted(owners.items()) if owner == package][:3]
        problems.append(f"{package} is used but not listed: {', '.join(examples)}")
    for name in listed["build"] + listed["test"]:
        # A package that only pulls in another one counts through it.
        direct = {name} | {choice for choices in machine.depends.get(name, []) for choice in choices}
        if not direct & set(owners.values()):
            problems.append(f"{name} is listed but nothing of it was used")
    for problem in problems:
        print(problem)
    print(f"{len(used)} files of {len(set(owners.values()))} packages compared with {len(names)} listed ones")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
