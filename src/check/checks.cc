#include "check/checks.h"

#include <algorithm>
#include <vector>

#include "options/nearest.h"

namespace belay::check {

namespace {

constexpr FindingId kGuard[] = {FindingId::kHostSourceChanged, FindingId::kHostTargetEarly,
                                FindingId::kHostBufferGone};
constexpr FindingId kFullOnly[] = {FindingId::kMissingOrder,      FindingId::kImplicitOrder,
                                   FindingId::kUninitializedRead, FindingId::kHostSourceChanged,
                                   FindingId::kHostTargetEarly,   FindingId::kHostBufferGone};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string Quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string JoinIds(const std::vector<std::string_view>& names, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? std::string(" ").append(last).append(" ") : ", ";
    text += names[i];
  }
  return text;
}

std::string Near(std::string_view name, bool with_sets) {
  std::vector<std::string_view> names;
  for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i)
    names.push_back(Kind(static_cast<FindingId>(i)).id);
  if (with_sets) names.insert(names.end(), {"off", "basic", "full", "guard"});
  return JoinIds(options::Nearest(name, names), "or");
}

std::string NotBuilt(std::string_view what, std::string_view missing) {
  std::string text = "check: " + Quoted(what) + " is not built yet";
  if (!missing.empty()) text += ": it needs " + std::string(missing);
  return text;
}

std::string MissingOf(const FindingId* first, const FindingId* last) {
  std::vector<std::string_view> names;
  for (; first != last; ++first) {
    if (!Kind(*first).built) names.push_back(Kind(*first).id);
  }
  return JoinIds(names, "and");
}

// One item of the list, without its sign: the ids that it names, or the error.
tl::expected<std::vector<FindingId>, std::string> IdsOf(std::string_view name) {
  if (name == "guard") {
    std::string missing = MissingOf(std::begin(kGuard), std::end(kGuard));
    if (!missing.empty()) return tl::unexpected(NotBuilt(name, missing));
    return std::vector<FindingId>(std::begin(kGuard), std::end(kGuard));
  }
  FindingId id = FindId(name);
  if (id == FindingId::kCount) {
    return tl::unexpected("check: there is no finding " + Quoted(name) + "; the nearest are " +
                          Near(name, /*with_sets=*/true));
  }
  if (!Kind(id).built) return tl::unexpected(NotBuilt(name, {}));
  return std::vector<FindingId>{id};
}

}  // namespace

CheckSet CheckSet::Basic() {
  CheckSet set;
  for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i) {
    auto id = static_cast<FindingId>(i);
    bool full_only = std::find(std::begin(kFullOnly), std::end(kFullOnly), id) != std::end(kFullOnly);
    if (Kind(id).built && !full_only) set.Add(id);
  }
  return set;
}

FindingId FindId(std::string_view id) {
  for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i) {
    if (Kind(static_cast<FindingId>(i)).id == id) return static_cast<FindingId>(i);
  }
  return FindingId::kCount;
}

std::string NearestIds(std::string_view name) {
  return Near(name, /*with_sets=*/false);
}

tl::expected<CheckSet, std::string> ParseChecks(std::string_view text) {
  CheckSet set;
  bool first = true;
  while (true) {
    size_t comma = text.find(',');
    std::string_view item = Trimmed(text.substr(0, comma));
    if (item.empty()) return tl::unexpected(std::string("check: an item of the list is empty"));
    bool is_signed = item[0] == '+' || item[0] == '-';
    if (first && is_signed) set = CheckSet::Basic();
    std::string_view name = is_signed ? Trimmed(item.substr(1)) : item;
    bool is_set = name == "off" || name == "basic" || name == "full";
    if (is_set) {
      if (!first || is_signed) {
        return tl::unexpected("check: " + Quoted(name) + " can only stand first in the list, without a sign");
      }
      if (name == "full") {
        std::string missing = MissingOf(std::begin(kFullOnly), std::end(kFullOnly));
        if (!missing.empty()) return tl::unexpected(NotBuilt(name, missing));
        for (FindingId id : kFullOnly) set.Add(id);
      }
      if (name != "off") set = CheckSet::FromBits(set.bits() | CheckSet::Basic().bits());
    } else {
      auto ids = IdsOf(name);
      if (!ids) return tl::unexpected(ids.error());
      for (FindingId id : *ids) item[0] == '-' ? set.Remove(id) : set.Add(id);
    }
    first = false;
    if (comma == std::string_view::npos) return set;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace belay::check
