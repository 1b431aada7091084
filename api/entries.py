"""Emits gen/belay/abi: traits, body declarations, exported entries, layout asserts, the export list."""

import dataclasses

from facts import declare, parameter_list
from output import c_banner, write

# Each group of functions lands in one of a few translation units of similar size.
BUCKETS = {
    "device": ("init", "config", "device", "context", "error-report", "exception", "group", "log", "other",
               "snapshot"),
    "stream": ("stream", "event", "notify", "cntnotify", "label", "exec-control"),
    "memory": ("memory-allocator", "memory-cmo", "memory-copy", "memory-device", "memory-host", "memory-ipc",
               "memory-pool", "memory-stream-op", "memory-unified", "memory-variable", "memory-virtual"),
    "kernel": ("kernel", "model-ri", "superkernel"),
    "tensor": ("datatype-ops",),
    "queue": ("tdt-buffer", "tdt-channel", "tdt-queue"),
    "profile": ("profiling", "dump"),
}
ACL_HEADERS = ("acl/acl.h", "acl/acl_dump.h", "acl/acl_msprof.h", "acl/acl_prof.h", "acl/acl_rt_allocator.h",
               "acl/acl_sk.h", "acl/acl_tdt.h", "acl/acl_tdt_queue.h")
INCLUDES = "".join(f'#include "{h}"\n' for h in ACL_HEADERS)
DIM3 = "struct dim3 {\n  uint32_t x, y, z;\n};\n"
LIFE = {"normal": "kNormal", "free": "kFree", "always": "kAlways"}


def failure(f):
    value = {"": "0", "NULL": "nullptr"}.get(f.fails_with, f.fails_with)
    if f.returns.endswith("*") and not f.fails_with:
        value = "nullptr"
    return f"static_cast<{f.returns}>({value})"


def body_parameters(f):
    """A body cannot be variadic: it takes the rest of its arguments as a va_list."""
    rest = ["va_list rest"] if f.variadic else []
    return ", ".join([declare(p.type, p.name) for p in f.params] + rest)


def built_entry(f, fn, site):
    names = [p.name for p in f.params]
    args = "".join(f", {name}" for name in names)
    body = f"belay::abi::body::{f.name}"
    if f.variadic:
        if f.returns != "void":
            raise ValueError(f"{f.name}: a variadic function that returns something is not supported")
        # The list is no argument like the others: it is used where it was started.
        return (f"  va_list rest;\n  va_start(rest, {names[-1]});\n"
                f"  auto body = [&rest](belay::abi::Call& call, const auto&... values) {{\n"
                f"    {body}(call, values..., rest);\n  }};\n"
                f"  belay::abi::EnterVoid<{fn}>({site}, body{args});\n  va_end(rest);\n")
    if f.returns == "aclError":
        return f"  return belay::abi::Enter<{fn}>({site}, {body}{args});\n"
    if f.returns == "void":
        return f"  belay::abi::EnterVoid<{fn}>({site}, {body}{args});\n"
    return f"  return belay::abi::EnterValue<{fn}>({site}, {failure(f)}, {body}{args});\n"


def refused_entry(f, fn, site):
    if f.returns == "aclError":
        return f"  return belay::abi::Refuse<{fn}>({site});\n"
    if f.returns == "void":
        return f"  belay::abi::RefuseVoid<{fn}>({site});\n"
    return f"  return belay::abi::RefuseValue<{fn}>({site}, {failure(f)});\n"


def entry(f):
    fn, site = f"belay::facts::Fn::{f.name}", "__builtin_return_address(0)"
    head = f'extern "C" BELAY_EXPORT {declare(f.returns, f.name)}({parameter_list(f, unnamed=not f.built)})'
    return f"{head} {{\n{(built_entry if f.built else refused_entry)(f, fn, site)}}}\n"


def entries(functions):
    own = ("abi/call.h", "belay/abi/bodies.h", "belay/abi/traits.h")
    text = "#include <cstdarg>\n\n" + INCLUDES + "".join(f'#include "{h}"\n' for h in own) + "\n"
    if any(p.type == "dim3" for f in functions for p in f.params):
        text += DIM3 + "\n"
    return text + "\n".join(entry(f) for f in functions)


def adapters(facts):
    """The entries of api/adapters.toml: an entry of the function that each stands for, or a refusal by name."""
    rows = []
    functions = {f.name: f for f in facts.functions}
    for adapter in facts.adapters:
        name = adapter["name"]
        if "of" not in adapter:
            rows.append(f'extern "C" BELAY_EXPORT aclError {name}() {{\n'
                        f'  return belay::abi::RefuseUnknown("{name}", __builtin_return_address(0));\n}}\n')
            continue
        f = functions[adapter["of"]]
        ignored = adapter.get("ignored", {})
        named = [declare(p.type, "" if p.name in ignored or not f.built else p.name).rstrip() for p in f.params]
        f = dataclasses.replace(f, params=[dataclasses.replace(p, name=ignored.get(p.name, p.name)) for p in f.params])
        way = built_entry if f.built else refused_entry
        body = way(f, f"belay::facts::Fn::{f.name}", "__builtin_return_address(0)")
        rows.append(f'extern "C" BELAY_EXPORT aclError {name}({", ".join(named)}) {{\n{body}}}\n')
    own = ("abi/call.h", "belay/abi/bodies.h", "belay/abi/traits.h")
    return INCLUDES + "".join(f'#include "{h}"\n' for h in own) + "\n" + "\n".join(rows)


def traits(facts):
    rows = []
    for f in facts.runtime:
        mask = sum(1 << i for i, p in enumerate(f.params) if p.required)
        written = sum(1 << i for i, p in enumerate(f.params) if p.written)
        everywhere = "true" if not any(f.masks) else "false"
        rows.append(f"template <>\nstruct Traits<facts::Fn::{f.name}> {{\n"
                    f"  static constexpr uint64_t kNonNull = {mask:#b};\n"
                    f"  static constexpr uint64_t kWritten = {written:#b};\n"
                    f"  static constexpr bool kEverywhere = {everywhere};\n"
                    f"  static constexpr Life kLife = Life::{LIFE[f.life]};\n}};\n")
    return ("// What the entry of each function has to test before its body runs.\n#pragma once\n\n"
            "#include <cstdint>\n\n#include \"abi/life.h\"\n#include \"belay/facts/functions.h\"\n\n"
            "namespace belay::abi {\n\n"
            "// kNonNull: bit i is set if parameter i is a pointer that must not be NULL.\n"
            "// kWritten: bit i is set if the call leaves something behind parameter i.\n"
            "// kEverywhere: every product and version has the function.\n"
            "template <facts::Fn F>\nstruct Traits;\n\n" + "\n".join(rows) + "\n}  // namespace belay::abi\n")


def bodies(facts):
    rows = []
    for f in facts.runtime:
        if not f.built:
            continue
        result = "Status" if f.returns == "aclError" else f.returns
        parameters = ", ".join(["Call& call"] + ([body_parameters(f)] if f.params else []))
        rows.append(f"{declare(result, f.name)}({parameters});\n")
    return ("// The functions that do the work behind the exported entries.\n#pragma once\n\n"
            "#include <cstdarg>\n\n" + INCLUDES + '#include "abi/call.h"\n\n'
            "namespace belay::abi::body {\n\n" + "".join(rows) +
            "\n}  // namespace belay::abi::body\n")


def _offsets(row, fields, out, path=""):
    for field in fields:
        name = path + field.get("name", "")
        if "name" in field:
            out.append(f"static_assert(offsetof({row['name']}, {name}) == {field['offset']});\n")
        if "members" in field:
            _offsets(row, field["members"], out, name + "." if "name" in field else path)


def asserts(facts, headers):
    out = []
    for e in facts.enums:
        if e["header"] in headers:
            scope = f"{e['name']}::" if e.get("scoped") else ""
            out.append(f"static_assert(sizeof({e['name']}) == 4);\n")
            out += [f"static_assert(static_cast<int64_t>({scope}{name}) == {row['value']});\n"
                    for name, row in e["values"].items()]
    for c in facts.codes:
        if c["header"] in headers:
            out.append(f"static_assert({c['name']} == {c['value']});\n")
    for row in facts.structs:
        if row["header"] in headers:
            if row.get("unverified"):
                out.append(f"// {row['name']}: computed from documented fields, unverified.\n")
            out.append(f"static_assert(sizeof({row['name']}) == {row['size']});\n")
            out.append(f"static_assert(alignof({row['name']}) == {row['align']});\n")
            _offsets(row, row["fields"], out)
    includes = "".join(f'#include "{h}"\n' for h in headers)
    return "#include <cstddef>\n#include <cstdint>\n\n" + includes + "\n" + "".join(out)


def emit(facts, directory, headers):
    abi = directory / "belay" / "abi"
    buckets = {group: bucket for bucket, groups in BUCKETS.items() for group in groups}
    exported = [f for f in facts.runtime if f.exported]
    if unknown := {f.group for f in facts.runtime} - set(buckets):
        raise ValueError(f"entries.py has no bucket for {sorted(unknown)}")
    for bucket in BUCKETS:
        functions = [f for f in exported if buckets[f.group] == bucket]
        write(abi / f"entries_{bucket}.cc", c_banner() + entries(functions))
    write(abi / "entries_adapter.cc", c_banner() + adapters(facts))
    write(abi / "traits.h", c_banner() + traits(facts))
    write(abi / "bodies.h", c_banner() + bodies(facts))
    write(abi / "asserts.cc", c_banner() + asserts(facts, headers))
    names = sorted([f.name for f in exported] + [adapter["name"] for adapter in facts.adapters])
    write(directory / "belay" / "exports.txt", "".join(name + "\n" for name in names))
