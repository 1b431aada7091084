"""Loads api/**/*.toml into plain objects, checks them, and answers the questions the emitters ask."""

import dataclasses
import pathlib
import re
import tomllib

import lacks

HERE = pathlib.Path(__file__).resolve().parent
CAPTURE_CHAPTER = "22 "  # SPEC 00 rule 7: exported only once they are built


@dataclasses.dataclass
class Param:
    type: str
    name: str
    dir: str
    nullable: bool = False

    @property
    def required(self):
        return "*" in self.type and not self.nullable

    @property
    def written(self):
        """The call leaves something behind the pointer."""
        return "*" in self.type and self.dir in ("out", "inout")


@dataclasses.dataclass
class Function:
    name: str
    returns: str
    params: list
    group: str
    header: str = ""
    section: str = ""
    lacks: str = "-"
    unless: str = ""
    since: str = ""
    codes: list = dataclasses.field(default_factory=list)
    also: list = dataclasses.field(default_factory=list)
    fails_with: str = ""
    brief: str = ""
    life: str = "normal"
    prototype: str = "known"
    alias_of: str = ""
    source: str = ""
    note: str = ""
    built: bool = False
    probe: bool = False
    variadic: bool = False
    inline: bool = False
    removed: bool = False
    deprecated: bool = False
    inferred_header: bool = False

    @property
    def runtime(self):
        return bool(self.section)

    @property
    def exported(self):
        capture = self.group == "model-ri" and self.section.startswith(CAPTURE_CHAPTER)
        return self.runtime and (self.built or not capture)

    @property
    def masks(self):
        return lacks.masks(self.lacks, self.since)

    @property
    def state(self):
        if self.built:
            return "implemented"
        return "refused" if self.lacks == "all" and not self.unless else "not yet"


def _toml(name):
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


class Facts:
    def __init__(self):
        self.functions = []
        for path in sorted((HERE / "functions").glob("*.toml")):
            for row in tomllib.loads(path.read_text(encoding="utf-8"))["function"]:
                row["params"] = [Param(**p) for p in row["params"]]
                self.functions.append(Function(group=path.stem, **row))
        self.enums = _toml("enums.toml")["enum"]
        for enum in self.enums:
            enum["values"] = {name: row if isinstance(row, dict) else {"value": row}
                              for name, row in enum["values"].items()}
        self.structs = _toml("structs.toml")["struct"]
        self.codes = _toml("codes.toml")["code"]
        self.constants = _toml("constants.toml")["constant"]
        self.handles = _toml("handles.toml")["handle"]
        self.typedefs = _toml("typedefs.toml")["typedef"]
        self.adapters = _toml("adapters.toml")["adapter"]
        self.runtime = sorted((f for f in self.functions if f.runtime), key=lambda f: f.name)
        self._check()

    def _check(self):
        seen = set()
        for f in self.functions:
            if f.name in seen:
                raise ValueError(f"{f.name} is declared twice")
            seen.add(f.name)
            f.masks  # raises on a bad expression
            if f.life not in ("normal", "free", "always"):
                raise ValueError(f"{f.name}: unknown life {f.life!r}")
            if f.exported and len(f.params) > 64:
                raise ValueError(f"{f.name}: more parameters than the non-null mask has bits")
            if f.built and f.masks == [lacks.ALL] * len(lacks.VERSIONS) and not f.unless:
                raise ValueError(f"{f.name} is built, but no profile has it")
        for adapter in self.adapters:
            if adapter["name"] in seen or not adapter["name"].startswith("rt"):
                raise ValueError(f"{adapter['name']} is no name for an adapter")
            target = next((f for f in self.functions if f.name == adapter.get("of")), None)
            if "of" in adapter and (target is None or target.returns != "aclError"):
                raise ValueError(f"{adapter['name']} is of no function that returns aclError")
            if unknown := set(adapter.get("ignored", {})) - {p.name for p in (target.params if target else [])}:
                raise ValueError(f"{adapter['name']} ignores unknown parameters {sorted(unknown)}")
        values = [c["value"] for c in self.codes if not c.get("alias")]
        if doubled := {v for v in values if values.count(v) > 1}:
            raise ValueError(f"codes {sorted(doubled)} need alias = true on all but one name")
        names = {c["name"]: c["value"] for c in self.codes}
        for f in self.functions:
            if unknown := set(f.codes) - set(names.values()):
                raise ValueError(f"{f.name}: unknown return codes {sorted(unknown)}")

    def codes_by_value(self):
        """The row to show for each code, by value."""
        shown = [code for code in self.codes if not code.get("alias")]
        return {code["value"]: code for code in sorted(shown, key=lambda c: c["value"])}


def declare(type_, name):
    """A C declarator: declare("char[32]", "name") is "char name[32]"."""
    if match := re.match(r"(.*?)\(\*\s*(const)?\s*\)(.*)", type_):
        const = "const " if match[2] else ""
        return f"{match[1]}(*{const}{name}){match[3]}"
    if match := re.match(r"([^\[]*)(\[.*)", type_):
        return declare(match[1].rstrip(), name) + match[2]
    return type_ + name if type_.endswith("*") else f"{type_} {name}"


def parameter_list(function, unnamed=False):
    parts = [declare(p.type, "" if unnamed else p.name).rstrip() for p in function.params]
    if function.variadic:
        parts.append("...")
    return ", ".join(parts)
