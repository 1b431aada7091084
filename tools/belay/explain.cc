#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "belay/facts/codes.h"
#include "belay/facts/functions.h"
#include "check/checks.h"
#include "command.h"
#include "options/nearest.h"
#include "pages.h"

namespace belay::tool {

namespace {

using Json = nlohmann::ordered_json;
using check::FindingId;

void PrintHelp() {
  puts(
      "belay explain [--json] [--page] CODE|FINDING|API\n\n"
      "Explains a return code (its number or its name), a finding by its id, or a function by its name. "
      "Without an\n"
      "argument it lists the findings. --page prints the whole page of a finding, with its two examples.\n\n"
      "Examples:\n"
      "  belay explain 107000\n"
      "  belay explain peer-not-enabled\n"
      "  belay explain aclrtMemcpy2d");
}

// The introduction and the sections without examples.
std::string Summary(std::string_view page) {
  std::string text;
  bool skip = false;
  while (!page.empty()) {
    size_t end = page.find('\n');
    std::string_view line = page.substr(0, end);
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
    if (line.starts_with("## ")) skip = line == "## Bad" || line == "## Good";
    if (!skip && !line.starts_with("# ") && !line.starts_with("**Severity**")) text.append(line).append("\n");
  }
  // Blank lines that the left-out sections stood between.
  size_t first = text.find_first_not_of('\n');
  text.erase(0, first == std::string::npos ? text.size() : first);
  for (size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  return text;
}

int PrintFinding(FindingId id, bool json, bool whole_page) {
  const check::FindingKind& kind = check::Kind(id);
  const std::string_view page = FindingPage(kind.id);
  const char* severity = check::SeverityName(kind.severity);
  if (json) {
    Json object = {{"kind", "finding"},    {"id", kind.id},
                   {"severity", severity}, {"title", kind.title},
                   {"built", kind.built},  {"page", page.empty() ? Json() : Json(page)}};
    puts(object.dump(1).c_str());
    return 0;
  }
  printf("%s (finding, %s)%s\n  %s\n", kind.id, severity, kind.built ? "" : ", not built yet", kind.title);
  if (!page.empty()) printf("\n%s", whole_page ? std::string(page).c_str() : Summary(page).c_str());
  return 0;
}

int ListFindings(bool json) {
  Json list = Json::array();
  for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i) {
    const check::FindingKind& kind = check::Kind(static_cast<FindingId>(i));
    const char* severity = check::SeverityName(kind.severity);
    if (json) {
      list.push_back({{"id", kind.id}, {"severity", severity}, {"title", kind.title}, {"built", kind.built}});
    } else {
      printf("%-24s%-9s%s%s\n", kind.id, severity, kind.title, kind.built ? "" : " (not built yet)");
    }
  }
  if (json) puts(list.dump(1).c_str());
  return 0;
}

int PrintCode(int code, bool json) {
  const char* name = facts::CodeName(code);
  const char* meaning = facts::CodeMeaning(code);
  if (json) {
    Json object = {
        {"kind", "code"}, {"code", code}, {"name", name}, {"meaning", meaning ? Json(meaning) : Json()}};
    puts(object.dump(1).c_str());
  } else {
    printf("%d %s (return code)\n  %s\n", code, name, meaning != nullptr ? meaning : "");
  }
  return 0;
}

const char* StateText(facts::State state) {
  switch (state) {
    case facts::State::kImplemented:
      return "implemented";
    case facts::State::kRefused:
      return "refused: no product has it";
    case facts::State::kNotYet:
      return "not built yet";
  }
  return "";
}

// The families that lack the function in a version.
std::vector<std::string> LackingFamilies(const facts::FnFacts& fn, facts::Cann cann) {
  std::vector<std::string> names;
  for (int i = 0; i < static_cast<int>(facts::Family::kCount); ++i) {
    auto family = static_cast<facts::Family>(i);
    if (facts::Lacks(fn, cann, family)) names.emplace_back(facts::FamilyName(family));
  }
  return names;
}

std::string Signature(const facts::FnFacts& fn) {
  std::string text = std::string(fn.returns) + " " + fn.name + "(";
  for (int i = 0; i < fn.param_count; ++i) text += (i > 0 ? ", " : "") + std::string(fn.params[i]);
  return text + ")";
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

int PrintFunction(facts::Fn function, bool json) {
  const facts::FnFacts& fn = facts::Facts(function);
  const bool has_since = fn.since != facts::Cann::kCount;
  Json lacks = Json::object();
  std::string text;
  for (int i = 0; i < static_cast<int>(facts::Cann::kCount); ++i) {
    auto cann = static_cast<facts::Cann>(i);
    std::vector<std::string> families = LackingFamilies(fn, cann);
    bool all = families.size() == static_cast<size_t>(facts::Family::kCount);
    text += std::string("    CANN ") + facts::CannName(cann) + ": " +
            (families.empty() ? "everywhere"
             : all            ? "nowhere"
                              : "not on " + Joined(families)) +
            "\n";
    lacks[facts::CannName(cann)] = families;
  }
  const std::string section = fn.section;
  if (json) {
    Json object = {{"kind", "function"},
                   {"name", fn.name},
                   {"signature", Signature(fn)},
                   {"section", section},
                   {"state", StateText(fn.state)},
                   {"since", has_since ? Json(facts::CannName(fn.since)) : Json()},
                   {"lacks", lacks},
                   {"probe", fn.probe}};
    puts(object.dump(1).c_str());
    return 0;
  }
  printf("%s (function)\n  %s\n", fn.name, Signature(fn).c_str());
  printf("  state: %s\n", StateText(fn.state));
  printf("  specification: %s\n",
         section == "README" ? "known only by its signature" : ("docs/spec, " + section).c_str());
  if (has_since) printf("  since: CANN %s\n", facts::CannName(fn.since));
  printf("  exists (elsewhere it answers 207000):\n%s", text.c_str());
  if (fn.probe) puts("  programs call it to probe: its refusal is no error");
  return 0;
}

int RefuseName(const std::string& name) {
  std::vector<std::string_view> names;
  for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i)
    names.push_back(check::Kind(static_cast<FindingId>(i)).id);
  for (const facts::Code& code : facts::AllCodes()) names.push_back(code.name);
  for (int i = 0; i < facts::kFnCount; ++i) names.push_back(facts::Facts(static_cast<facts::Fn>(i)).name);
  return Refuse("'" + name + "' is no code, finding or function; the nearest are " +
                options::Join(options::Nearest(name, names)));
}

std::optional<int> AsNumber(std::string_view text) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

int ExplainCommand(Arguments arguments) {
  bool json = false;
  bool whole_page = false;
  std::string name;
  for (std::string_view word : arguments) {
    if (word == "--help" || word == "-h") {
      PrintHelp();
      return 0;
    }
    if (word == "--json") {
      json = true;
    } else if (word == "--page") {
      whole_page = true;
    } else if (!name.empty() || word.starts_with("--")) {
      return Refuse("explain takes one code, finding or function, not '" + std::string(word) + "'");
    } else {
      name = word;
    }
  }
  if (name.empty()) return ListFindings(json);
  if (auto number = AsNumber(name)) {
    if (facts::CodeName(*number) == nullptr) return Refuse("no call returns the code " + name);
    return PrintCode(*number, json);
  }
  if (FindingId id = check::FindId(name); id != FindingId::kCount) return PrintFinding(id, json, whole_page);
  if (facts::Fn fn = facts::FindFn(name); fn != facts::Fn::kCount) return PrintFunction(fn, json);
  if (int code = facts::FindCode(name); code != -1) return PrintCode(code, json);
  return RefuseName(name);
}

}  // namespace belay::tool
