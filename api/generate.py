"""Generates code from the fact table api/**/*.toml.

    generate.py --headers include --coverage docs/api-coverage.md    # checked-in files
    generate.py --build build/release/gen                            # build-tree files
"""

import argparse
import pathlib

import coverage
import entries
import headers
import tables
from facts import Facts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=pathlib.Path, metavar="DIR", help="write the public headers")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR", help="write the build-tree files")
    parser.add_argument("--coverage", type=pathlib.Path, metavar="FILE", help="write the coverage page")
    args = parser.parse_args()
    facts = Facts()
    if args.headers:
        headers.emit(facts, args.headers)
    if args.build:
        tables.emit(facts, args.build)
        entries.emit(facts, args.build, headers.HEADERS)
    if args.coverage:
        coverage.emit(facts, args.coverage)


if __name__ == "__main__":
    main()
