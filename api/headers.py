"""Emits the public headers: include/acl, include/aclnn, include/hccl.

A header holds, in this order: includes, constants, enums, handles, callback types, structs, functions.
What it includes follows from the types it uses; EXTRA_INCLUDES adds what client programs expect beyond that.
"""

import re
import textwrap

from facts import declare, parameter_list
from output import c_banner, write

HEADERS = (
    "acl/error_codes/rt_error_codes.h", "acl/error_codes/ge_error_codes.h", "acl/acl_base.h", "acl/acl_rt.h",
    "acl/acl_rt_allocator.h", "acl/acl_op.h", "acl/acl_mdl.h", "acl/acl.h", "acl/acl_op_compiler.h",
    "acl/acl_prof.h", "acl/acl_msprof.h", "acl/acl_tdt.h", "acl/acl_tdt_queue.h", "acl/acl_dump.h",
    "acl/acl_sk.h", "acl/ops/acl_cblas.h", "acl/ops/acl_dvpp.h", "acl/ops/acl_fv.h",
    "aclnn/acl_meta.h", "aclnn/aclnn_base.h", "aclnn/aclnn.h", "hccl/hccl_types.h", "hccl/hccl.h",
)

ABOUT = {
    "acl/error_codes/rt_error_codes.h": "Return codes of the runtime layer.",
    "acl/error_codes/ge_error_codes.h": "Return codes of the graph engine.",
    "acl/acl_base.h": "Basic types, return codes, data buffers, tensor descriptions, logging.",
    "acl/acl_rt.h": "The runtime: devices, contexts, streams, events, memory, kernels.",
    "acl/acl_rt_allocator.h": "Allocators that a program registers for a stream.",
    "acl/acl_op.h": "Single operators. Declared, not exported, except the dump switches.",
    "acl/acl_mdl.h": "Captured graphs, and models. Model functions are declared, not exported.",
    "acl/acl.h": "Everything a program usually needs.",
    "acl/acl_op_compiler.h": "The operator compiler. Declared, not exported.",
    "acl/acl_prof.h": "Profiling.",
    "acl/acl_msprof.h": "Profiling functions that newer versions dropped; old programs still call them.",
    "acl/acl_tdt.h": "Tensor channels between host and device.",
    "acl/acl_tdt_queue.h": "Shared queues and their buffers.",
    "acl/acl_dump.h": "Callbacks for data dump.",
    "acl/acl_sk.h": "Super kernels.",
    "acl/ops/acl_cblas.h": "Matrix operators. Declared, not exported.",
    "acl/ops/acl_dvpp.h": "Image and video processing. Declared, not exported.",
    "acl/ops/acl_fv.h": "Feature vector search. Declared, not exported.",
    "aclnn/acl_meta.h": "Tensor objects of the operator library. Declared so that programs compile.",
    "aclnn/aclnn_base.h": "Start and end of the operator library. Declared so that programs compile.",
    "aclnn/aclnn.h": "The operator library's common headers.",
    "hccl/hccl_types.h": "Types of the collective communication library.",
    "hccl/hccl.h": "Collective communication. Declared so that programs compile.",
}

EXTRA_INCLUDES = {
    "acl/acl_base.h": ["acl/error_codes/rt_error_codes.h", "acl/error_codes/ge_error_codes.h"],
    "acl/acl.h": ["acl/acl_rt.h", "acl/acl_op.h", "acl/acl_mdl.h"],
    "acl/acl_op_compiler.h": ["acl/acl_op.h"],
    "acl/acl_msprof.h": ["acl/acl_prof.h"],
    "aclnn/aclnn_base.h": ["aclnn/acl_meta.h"],
    "aclnn/aclnn.h": ["aclnn/acl_meta.h", "aclnn/aclnn_base.h"],
    "hccl/hccl.h": ["hccl/hccl_types.h", "acl/acl_base.h", "acl/acl_rt.h"],
}

# Text that no table row can express.
VERBATIM = {
    "acl/acl_base.h": """\
/** Writes one line to the log, with the place of the call: ACL_APP_LOG(level, format, ...). Spec 11 §4.1. */
#define ACL_APP_LOG(level, ...) aclAppLog(level, __func__, __FILE__, __LINE__, __VA_ARGS__)
""",
    "acl/acl_rt.h": """\
/* Parameter type of the SIMT launches. Left undefined: programs bring their own definition. */
struct dim3;
""",
    "hccl/hccl.h": """\
/** Fills a configuration with its default values. */
static inline void HcclCommConfigInit(HcclCommConfig *config) {
  struct {
    size_t size;
    uint32_t magic;
    uint32_t version;
    uint64_t reserved;
  } head;
  if (config == NULL) return;
  memset(config, 0, sizeof(*config));
  head.size = sizeof(*config);
  head.magic = HCCL_COMM_CONFIG_MAGIC_WORD;
  head.version = HCCL_COMM_CONFIG_VERSION;
  head.reserved = 0;
  memcpy(config->reserved, &head, sizeof(head));
  config->hcclBufferSize = HCCL_COMM_DEFAULT_BUFFSIZE;
  config->hcclDeterministic = HCCL_COMM_DEFAULT_DETERMINISTIC;
  config->hcclOpExpansionMode = HCCL_COMM_DEFAULT_OP_EXPANSION_MODE;
  config->hcclRdmaTrafficClass = HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET;
  config->hcclRdmaServiceLevel = HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET;
}
""",
}

WORD = re.compile(r"[A-Za-z_]\w*")
ALSO = {
    "earlier-failure": "the code of an earlier failed task",
    "callback": "the code of a callback",
    "stored": "the stored code",
}


def comment(text, indent=""):
    width = 112 - len(indent)
    lines = textwrap.wrap(text, width - 7)
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    body = "".join(f"{indent} *  {line}\n" for line in lines[1:-1])
    return f"{indent}/** {lines[0]}\n{body}{indent} *  {lines[-1]} */\n"


def function_comment(f):
    parts = [f.brief] if f.brief else []
    if not f.runtime:
        return comment(f.brief) if f.brief else ""
    if f.section == "README":
        parts.append("Known only by its signature.")
    optional = [p.name for p in f.params if p.nullable]
    if optional:
        parts.append(f"{' and '.join(optional)} may be NULL.")
    if f.alias_of:
        parts.append(f"Other spelling of {f.alias_of}.")
    if f.deprecated:
        parts.append("Deprecated.")
    where = []
    if f.lacks != "-":
        where.append("in no product" if f.lacks == "all" and not f.unless else
                     f"in no product unless the quirk {f.unless} is on" if f.unless else f"not on: {f.lacks}")
    if f.since and f.since != "base":
        where.append(f"since {f.since}")
    if where:
        text = "; ".join(where)
        parts.append(text[0].upper() + text[1:] + ".")
    if f.fails_with:
        parts.append(f"Gives {f.fails_with} on failure.")
    answers = [str(c) for c in f.codes] + [ALSO[a] for a in f.also]
    if answers and f.returns == "aclError":
        parts.append("Besides 0 may return " + ", ".join(answers) + ".")
    if f.section != "README":
        parts.append(f"Spec {f.section}.")
    return comment(" ".join(parts))


class Emitter:
    def __init__(self, facts):
        self.facts = facts
        self.home = {}
        for rows in (facts.enums, facts.structs, facts.handles, facts.typedefs):
            for row in rows:
                self.home[row["name"]] = row["header"]

    def of(self, rows, header):
        return [row for row in rows if row["header"] == header]

    def includes(self, header, text):
        needed = list(EXTRA_INCLUDES.get(header, []))
        for word in WORD.findall(text):
            home = self.home.get(word)
            if home and home != header and home not in needed:
                needed.append(home)
        return sorted(needed, key=HEADERS.index)

    def constants(self, header):
        out = []
        for code in self.of(self.facts.codes, header):
            if code["declared"] == "#define":
                line = f"#define {code['name']} {code['value']}"
            else:
                unsigned = "U" if "uint" in code["declared"] else ""
                line = f"{code['declared']} {code['name']} = {code['value']}{unsigned};"
            note = f"/* {code['meaning']} */"
            out.append(f"{line} {note}\n" if len(line) + len(note) < 110 else f"{note}\n{line}\n")
        for row in self.of(self.facts.constants, header):
            if "macro" in row:
                out.append(f"#define {row['name']} {row['macro']}\n")
            else:
                unsigned = "U" if row["type"].startswith("uint") else ""
                out.append(f"static const {row['type']} {row['name']} = {row['value']}{unsigned};\n")
        return "".join(out)

    def enum(self, row):
        values = "".join(f"  {name} = {value['value']},{self._enum_note(value)}\n"
                         for name, value in row["values"].items())
        name, underlying = row["name"], row.get("underlying")
        if row.get("scoped"):
            return (f"#ifdef __cplusplus\nenum class {name} : {underlying} {{\n{values}}};\n#else\n"
                    f"typedef {underlying} {name}; /* the enumerators exist in C++ only */\n#endif\n")
        if underlying:
            return (f"#ifdef __cplusplus\ntypedef enum {name} : {underlying} {{\n#else\n"
                    f"typedef enum {name} {{\n#endif\n{values}}} {name};\n")
        return f"typedef enum {name} {{\n{values}}} {name};\n"

    @staticmethod
    def _enum_note(value):
        notes = []
        if "since" in value:
            notes.append(f"since {value['since']}")
        if "alias_of" in value:
            notes.append(f"other spelling of {value['alias_of']}")
        return f" /* {', '.join(notes)} */" if notes else ""

    def handle(self, row):
        if "tag" in row:
            return f"typedef struct {row['tag']} {row['name']};\n"
        note = " /* assumed: no public definition is known */" if row.get("assumed") else ""
        return f"typedef void *{row['name']};{note}\n"

    def fields(self, rows, indent):
        out = ""
        for row in rows:
            if "members" in row:
                name = f" {row['name']}" if "name" in row else ""
                members = self.fields(row["members"], indent + "  ")
                out += f"{indent}{row['type']} {{\n{members}{indent}}}{name};\n"
            else:
                # A trailing array of length 0: valid in both languages only as an extension.
                extension = "__extension__ " if "[0]" in row["type"] else ""
                since = f" /* since {row['since']} */" if "since" in row else ""
                out += f"{indent}{extension}{declare(row['type'], row['name'])};{since}\n"
        return out

    def struct(self, row):
        kind = row.get("kind", "struct")
        note = ""
        if row.get("unverified"):
            note = comment("The layout is computed from documented fields and unverified.")
        tag = row.get("tag", row["name"])
        return f"{note}typedef {kind} {tag} {{\n{self.fields(row['fields'], '  ')}}} {row['name']};\n"

    def structs(self, header):
        rows = {row["name"]: row for row in self.of(self.facts.structs, header)}
        done, out = set(), []

        def visit(row):
            if row["name"] in done:
                return
            done.add(row["name"])
            for word in WORD.findall(str(row["fields"])):
                if word in rows and word != row["name"]:
                    visit(rows[word])
            out.append(self.struct(row))

        for row in rows.values():
            visit(row)
        return "\n".join(out)

    def function(self, f):
        params = parameter_list(f).replace("dim3 ", "struct dim3 ")
        start = f"{declare(f.returns, f.name)}("
        text = f"{start}{params or 'void'});\n"
        if len(text) > 111:
            text = textwrap.fill(f"{start}{params});", 110, subsequent_indent="    ") + "\n"
        return function_comment(f) + text

    def functions(self, header):
        rows = [f for f in self.facts.functions if f.header == header and not f.inline]
        return "\n".join(self.function(f) for f in rows)

    def header(self, header):
        sections = [
            self.constants(header),
            "\n".join(self.enum(row) for row in self.of(self.facts.enums, header)),
            "".join(self.handle(row) for row in self.of(self.facts.handles, header)),
            VERBATIM.get(header, "") if header != "hccl/hccl.h" else "",
        ]
        callbacks = [f"typedef {declare(row['type'], row['name'])};\n"
                     for row in self.of(self.facts.typedefs, header)]
        plain = [c for c in callbacks if "(" not in c]
        sections[2] = "".join(plain) + sections[2]
        sections.append("".join(c for c in callbacks if "(" in c))
        sections.append(self.structs(header))
        sections.append(VERBATIM["hccl/hccl.h"] if header == "hccl/hccl.h" else "")
        sections.append(self.functions(header))
        body = "\n".join(s for s in sections if s)
        guard = "BELAY_INCLUDE_" + re.sub(r"\W", "_", header).upper() + "_"
        system = [] if header in ("acl/acl.h", "aclnn/aclnn.h") else ["stddef.h", "stdint.h"]
        if re.search(r"\bbool\b", body):
            system.insert(0, "stdbool.h")
        if "memcpy(" in body:
            system.append("string.h")
        out = c_banner() + f"//\n// {ABOUT[header]}\n#ifndef {guard}\n#define {guard}\n\n"
        out += "".join(f"#include <{name}>\n" for name in system) + ("\n" if system else "")
        includes = self.includes(header, body)
        out += "".join(f'#include "{name}"\n' for name in includes) + ("\n" if includes else "")
        if body:
            out += '#ifdef __cplusplus\nextern "C" {\n#endif\n\n' + body
            out += "\n#ifdef __cplusplus\n}\n#endif\n\n"
        return out + f"#endif  /* {guard} */\n"


def emit(facts, directory):
    emitter = Emitter(facts)
    tables = (facts.enums, facts.structs, facts.handles, facts.typedefs, facts.codes, facts.constants)
    homes = {row["header"] for rows in tables for row in rows}
    homes |= {f.header for f in facts.functions if f.header}
    if unknown := homes - set(HEADERS):
        raise ValueError(f"headers.py has no row for {sorted(unknown)}")
    for header in HEADERS:
        write(directory / header, emitter.header(header))
