"""silent.py --test MODEL_TEST --programs N --options "schedule=async workers=1": random programs under the checks that find
what gives no error code; fails when they find something, or when the library does not look for it."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CHECKS = ["missing-order", "implicit-order", "uninitialized-read", "guard", "leak"]
FEATURES = "flag-events,notifies,values,host-functions,callbacks,event-books"


def findings(arguments, checks, features):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        options = f"quiet=on check=off,{','.join('+' + check for check in checks)} report={report} {arguments.options}"
        result = subprocess.run(
            [arguments.test, "--programs", str(arguments.programs), "--features", features],
            env={**os.environ, "BELAY": options}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"the programs failed with {result.returncode}:\n{result.stdout}{result.stderr}")
        return json.loads(report.read_text())["findings"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--test", required=True)
    parser.add_argument("--programs", type=int, required=True)
    parser.add_argument("--options", default="")
    arguments = parser.parse_args()
    found = findings(arguments, CHECKS, FEATURES)
    for finding in found:
        print(f"{finding['id']}: {finding['message']}")
    # With pageable memory the same programs lean on calls that happen to wait.
    if not findings(arguments, ["implicit-order"], FEATURES + ",pageable"):
        sys.exit("nothing was looked for")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
