#include "check/suppressions.h"

#include <utility>

#include "options/text_file.h"

namespace belay::check {

namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// A '#' at the start or after a blank; file names may hold one.
std::string_view WithoutComment(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) return line.substr(0, i);
  }
  return line;
}

// Whether `c` is in the set that starts after '[' at `*at`; moves `*at` behind the ']'. A set without an end
// is a plain '['.
bool InSet(std::string_view glob, size_t* at, char c) {
  size_t i = *at;
  bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  size_t end = glob.find(']', i + 1);
  if (end == std::string_view::npos) return c == '[';
  bool found = false;
  for (; i < end; ++i) {
    if (i + 2 < end && glob[i + 1] == '-') {
      found = found || (glob[i] <= c && c <= glob[i + 2]);
      i += 2;
    } else {
      found = found || glob[i] == c;
    }
  }
  *at = end + 1;
  return found != negated;
}

bool Walk(std::string_view glob, std::string_view text) {
  size_t g = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // where to go on after a '*' that took too little
  size_t star_text = 0;
  while (t < text.size()) {
    size_t next = g + 1;
    bool matches = false;
    if (g < glob.size()) {
      if (glob[g] == '*') {
        star = ++g;
        star_text = t;
        continue;
      }
      matches = glob[g] == '?' || (glob[g] == '[' ? InSet(glob, &next, text[t]) : glob[g] == text[t]);
    }
    if (matches) {
      g = next;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

std::string_view BaseName(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The whole path, or its last part when the glob names no directory.
bool PathMatches(std::string_view glob, std::string_view path) {
  return !path.empty() && (GlobMatches(glob, path) || GlobMatches(glob, BaseName(path)));
}

}  // namespace

bool GlobMatches(std::string_view glob, std::string_view text) {
  return glob == text || Walk(glob, text);
}

tl::expected<Suppressions, std::string> Suppressions::Parse(std::string_view text, std::string_view name) {
  Suppressions result;
  for (int number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    std::string_view line = Trimmed(WithoutComment(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    auto error = [&](std::string what) {
      return tl::unexpected(std::string(name) + ":" + std::to_string(number) + ": " + what);
    };
    size_t colon = line.find(':');
    std::string_view id = Trimmed(line.substr(0, colon));
    CheckSet ids;
    for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i) {
      if (GlobMatches(id, Kind(static_cast<FindingId>(i)).id)) ids.Add(static_cast<FindingId>(i));
    }
    if (ids.empty()) {
      return error("there is no finding '" + std::string(id) + "'; the nearest are " + NearestIds(id));
    }
    if (colon == std::string_view::npos) {
      result.everywhere_ = CheckSet::FromBits(result.everywhere_.bits() | ids.bits());
      continue;
    }
    std::string_view glob = Trimmed(line.substr(colon + 1));
    if (glob.empty()) return error("nothing follows '" + std::string(id) + ":'");
    result.rules_.push_back({ids, std::string(glob)});
  }
  return result;
}

tl::expected<Suppressions, std::string> Suppressions::Load(const std::string& file) {
  auto text = options::ReadTextFile(file);
  if (!text) return tl::unexpected("suppress: cannot read '" + file + "'");
  return Parse(*text, file);
}

bool Suppressions::Matches(FindingId id, const os::Symbol& symbol) const {
  Text<300> line;
  if (!symbol.file.empty()) line.Format("%s:%u", symbol.file.c_str(), symbol.line);
  for (const Rule& rule : rules_) {
    if (!rule.ids.Has(id)) continue;
    if (!symbol.function.empty() && GlobMatches(rule.glob, symbol.function.view())) return true;
    if (PathMatches(rule.glob, symbol.file.view()) || PathMatches(rule.glob, line.view())) return true;
    if (PathMatches(rule.glob, symbol.module.view())) return true;
  }
  return false;
}

}  // namespace belay::check
