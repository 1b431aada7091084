"""The checked-in headers and the coverage page are what the generator makes of the fact table."""

import pathlib
import subprocess
import sys
import tempfile


def files(directory, folders):
    return {p.relative_to(directory): p.read_bytes()
            for folder in folders for p in sorted((directory / folder).rglob("*")) if p.is_file()}


def main():
    root = pathlib.Path(sys.argv[1])
    generator = [sys.executable, "-B", root / "api" / "generate.py"]
    failures = []
    with tempfile.TemporaryDirectory() as temporary:
        out = pathlib.Path(temporary)
        subprocess.run(generator + ["--headers", out / "include", "--coverage", out / "coverage.md"],
                       check=True)
        folders = ("acl", "aclnn", "hccl")
        made, kept = files(out / "include", folders), files(root / "include", folders)
        both = sorted(made.keys() & kept.keys())
        failures += [f"include/{name} differs" for name in both if made[name] != kept[name]]
        failures += [f"include/{name} is not generated" for name in sorted(kept.keys() - made.keys())]
        failures += [f"include/{name} is missing" for name in sorted(made.keys() - kept.keys())]
        if (out / "coverage.md").read_bytes() != (root / "docs" / "api-coverage.md").read_bytes():
            failures.append("docs/api-coverage.md differs")
        if b"aclrtMemRetainAllocationHandle" not in kept.get(pathlib.PurePath("acl/acl_rt.h"), b""):
            failures.append("acl/acl_rt.h lacks a word that client builds look for")

        # The build tree's files come out the same twice, and an unchanged file keeps its time.
        gen = out / "gen"
        subprocess.run(generator + ["--build", gen], check=True)
        first = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in gen.rglob("*") if p.is_file()}
        subprocess.run(generator + ["--build", gen], check=True)
        second = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in gen.rglob("*") if p.is_file()}
        if first != second:
            failures.append("a second --build run changed files")
        exports = (gen / "belay" / "exports.txt").read_text(encoding="utf-8").split()
        if exports != sorted(set(exports)):
            failures.append("exports.txt is not sorted")
    if failures:
        print("\n".join(failures))
        print("run: python3 api/generate.py --headers include --coverage docs/api-coverage.md")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
