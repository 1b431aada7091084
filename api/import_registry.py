"""Reads an API registry (JSON facts and a function index) once and writes api/**/*.toml.

From then on the TOML is the truth: this script refuses to overwrite it without --force.
"""

import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent

# The spec names families with these tags; the registry's product list uses longer ones.
CONDITION = re.compile(r"^all, unless `(\w+) = on`$")

# Odd cells of the index, decided by hand. The grammar of `lacks` is in lacks.py.
LACKS = {
    "200I, INF; 950 (DT always, PR before 9.2), TRN by version": "950, 200I, INF",
    "200I, INF; 950, TRN as HostRegister": "950, 200I, INF",
    "200I, INF, TRN; 950 before 9.1, 950DT": "200I, INF, TRN; 950 before 9.1; 950DT",
    "950DT in 9.1": "950DT from 9.1",
}
NOTES = {
    "aclrtHostRegister": "950DT never has it, 950PR not before 9.2; TRN loses it with 9.2.",
    "aclrtHostUnregister": "Same products as aclrtHostRegister.",
}
# Notes of the registry that read better in other words.
REWORDED = {
    "NOTE zh/850 page prints ACL_RT_DEVICE_ABORT_PRE/POST":
        "One 8.5 page spells the values ACL_RT_DEVICE_ABORT_PRE and ACL_RT_DEVICE_ABORT_POST.",
    "33 section 1.5": "Specified in 33 §1.5.",
}
HEADERS = {
    "ge/ge_error_codes.h": "acl/error_codes/ge_error_codes.h",
    "hccl/hccl_comm.h": "hccl/hccl.h",
    "hccl/hccl_sym_win.h": "hccl/hccl.h",
}
ASSUMED = [
    {"name": "aclrtMemPool", "header": "acl/acl_rt.h"},
    {"name": "aclmdlRICondHandle", "header": "acl/acl_mdl.h"},
]
OPTIONAL_NAMES = {"userData", "reserve", "reserved", "args", "rsv"}
# Second names of a value; messages show the first one.
CODE_ALIASES = {"ACL_ERROR_NONE", "ACL_RT_SUCCESS", "ACL_ERROR_RT_DEVICE_MTE_ERROR"}
WORDS = {"X": "earlier-failure", "CB": "callback"}


def provenance(source):
    if "third_party/acl/inc" in source:
        return "header 1.15.0"
    if "graphengine" in source:
        return "header 1.10.0"
    if "third_party/hccl" in source:
        return "hccl header 2025"
    match = re.search(r"/(\d)(\d)\d?(?:RC\d|beta\d)?/", source)
    if "hiascend" in source:
        return f"documentation {match[1]}.{match[2]}" if match else "documentation"
    return "spec" if source == "spec" else "client"


def tidy(text):
    text = re.sub(r"\s*;?\s*(?:name listed at )?https?://\S+", "", text).strip()
    return REWORDED.get(text, text)


def header_of(row):
    return HEADERS.get(row["header"], row["header"])


def value(item):
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False)
    if isinstance(item, dict):
        return "{ " + ", ".join(f"{k} = {value(v)}" for k, v in item.items()) + " }"
    return "[" + ", ".join(value(v) for v in item) + "]"


def rows(items, indent="  "):
    return "[\n" + "".join(f"{indent}{value(i)},\n" for i in items) + "]" if items else "[]"


def block(kind, fields, tables=()):
    out = [f"[[{kind}]]"]
    for key, item in fields.items():
        if item is None or item == "" or item is False:
            continue
        listed = isinstance(item, list) and item and isinstance(item[0], dict)
        out.append(f"{key} = {rows(item) if listed else value(item)}")
    for key, table in tables:
        out.append(f"[{kind}.{key}]")
        out += [f"{name} = {value(item)}" for name, item in table.items()]
    return "\n".join(out) + "\n"


def read_index(path):
    index = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            name, section, _, lacks, since, codes = (c.strip() for c in line.strip("|").split("|"))
            index[name.strip("` ")] = {"section": section, "lacks": lacks, "since": since, "codes": codes}
    return index


def index_fields(name, entry):
    lacks, unless = LACKS.get(entry["lacks"], entry["lacks"]), None
    if match := CONDITION.match(lacks):
        lacks, unless = "all", match[1]
    fields = {"section": entry["section"], "lacks": lacks, "unless": unless}
    if entry["since"] != "-":
        fields["since"] = entry["since"]
    codes, fail, words = [], None, []
    text = entry["codes"]
    if "else the stored code" in text:
        words.append("stored")
        text = text.split(",")[0]
    for word in text.split():
        if re.fullmatch(r"\d{6}", word):
            codes.append(int(word))
        elif word in WORDS:
            words.append(WORDS[word])
        elif word not in ("none", "void", "nothing"):
            fail = word
    fields["fails_with"] = fail
    fields["codes"] = codes or None
    fields["also"] = words or None
    return fields


def params_of(function):
    out = []
    for p in function["params"]:
        row = {"type": p["type"], "name": p["name"], "dir": p.get("dir", "in")}
        pointer = "*" in p["type"]
        if p.get("nullable") or (pointer and p["name"] in OPTIONAL_NAMES and p["type"] == "void *"):
            row["nullable"] = True
        out.append(row)
    return out


def function_rows(registry, index):
    groups = {}
    for f in registry["functions"]:
        if "aclmdlCapture" in str(f["params"]) or (f["scope"] == "adjacent" and f.get("removed")):
            continue
        fields = {"name": f["name"], "returns": f["return"], "params": params_of(f),
                  "variadic": f.get("variadic")}
        if f["scope"] == "runtime":
            fields |= index_fields(f["name"], index[f["name"]])
        fields |= {"header": header_of(f), "inferred_header": f["header_basis"] == "inferred",
                   "removed": f.get("removed"), "deprecated": f.get("deprecated"),
                   "alias_of": f.get("alias_of"), "source": provenance(f["source"]),
                   "note": NOTES.get(f["name"], tidy(f.get("note", "")))}
        groups.setdefault(f["group"], []).append(fields)
    for f in registry["functions_name_only"]:
        fields = {"name": f["name"], "returns": "aclError", "params": [], "prototype": "unknown"}
        fields |= index_fields(f["name"], index[f["name"]]) | {"source": provenance(f["source"])}
        groups.setdefault(f["group"], []).append(fields)
    return groups


def hccl_rows(hccl):
    for f in hccl["functions"]:
        params = params_of(f)
        if f["name"] == "HcclCreateSubCommConfig":
            params[-1]["name"] = "subComm"
        yield {"name": f["name"], "returns": f["return"], "params": params, "header": header_of(f),
               "inline": f.get("inline"), "source": provenance(f["source"]), "note": tidy(f.get("note", ""))}


def field_row(field):
    row = {"type": field["type"], "name": field["name"], "offset": field["offset"]}
    if not row["name"]:
        del row["name"]
    if "fields" in field:
        row["members"] = [field_row(member) for member in field["fields"]]
    if "since" in field:
        row["since"] = field["since"]
    return row


def enum_text(e):
    values = {}
    for v in e["values"]:
        extra = {k: v[k] for k in ("since", "alias_of") if k in v}
        values[v["name"]] = {"value": v["value"]} | extra if extra else v["value"]
    return block("enum", {"name": e["name"], "header": header_of(e), "scoped": e.get("scoped"),
                          "underlying": e.get("underlying"), "source": provenance(e["source"]),
                          "note": tidy(e.get("note", ""))}, [("values", values)])


def struct_text(s):
    return block("struct", {"name": s["name"], "kind": s["kind"] if s["kind"] != "struct" else None,
                            "tag": s.get("tag"), "header": header_of(s),
                            "size": s["size"], "align": s["align"],
                            "unverified": s.get("layout_verified") is False,
                            "fields": [field_row(f) for f in s["fields"]],
                            "source": provenance(s["source"]), "note": tidy(s.get("note", ""))})


def code_row(c):
    row = {"value": c["value"], "name": c["name"], "meaning": c["meaning"],
           "declared": c["declared_as"], "header": header_of(c)}
    return row | {"alias": True} if c["name"] in CODE_ALIASES else row


def constant_row(c):
    row = {"name": c["name"]}
    if c["kind"] == "macro":
        row["macro"] = c["raw"]
    else:
        row |= {"type": c["type"], "value": c["value"]}
    return row | {"header": header_of(c)}


def handle_row(h):
    tag = {} if h["kind"] == "void *" else {"tag": h["tag"]}
    return {"name": h["name"]} | tag | {"header": header_of(h)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("registry", type=pathlib.Path, help="folder with acl-api.json and its companions")
    parser.add_argument("--force", action="store_true", help="overwrite existing TOML, losing edits by hand")
    args = parser.parse_args()
    if (HERE / "functions").exists() and not args.force:
        sys.exit("api/functions exists; the TOML is the truth now (--force overwrites it)")

    acl, hccl, codes = (json.loads((args.registry / f"{n}.json").read_text(encoding="utf-8"))
                        for n in ("acl-api", "hccl-api", "error-codes"))
    index = read_index(args.registry / "function-index.md")
    (HERE / "functions").mkdir(exist_ok=True)

    def write(name, text):
        (HERE / name).write_text(text, encoding="utf-8")

    for group, functions in function_rows(acl, index).items():
        write(f"functions/{group}.toml", "\n".join(block("function", f) for f in functions))
    write("functions/hccl.toml", "\n".join(block("function", f) for f in hccl_rows(hccl)))
    write("enums.toml", "\n".join(enum_text(e) for e in acl["enums"] + hccl["enums"]))
    write("structs.toml", "\n".join(struct_text(s) for s in acl["structs"] + hccl["structs"]))
    known = {c["name"] for c in codes["codes"]}
    write("codes.toml", "code = " + rows([code_row(c) for c in codes["codes"]]) + "\n")
    write("constants.toml", "constant = " + rows(
        [constant_row(c) for c in acl["constants"] + hccl["constants"] if c["name"] not in known]) + "\n")
    handles = [handle_row(h) for h in acl["opaque_handles"] + hccl["opaque_handles"]
               if h["header"] != "lcal_api.h"]
    handles += [a | {"assumed": True} for a in ASSUMED]
    write("handles.toml", "handle = " + rows(handles) + "\n")
    write("typedefs.toml", "typedef = " + rows(
        [{"name": t["name"], "type": t["type"], "header": header_of(t)} for t in acl["typedefs"]]) + "\n")


if __name__ == "__main__":
    main()
