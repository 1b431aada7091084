#include "options/nearest.h"

#include <algorithm>
#include <utility>

namespace belay::options {

int EditDistance(std::string_view a, std::string_view b) {
  // Three rows are enough: a swap looks two rows back.
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      int change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<std::string_view> Nearest(std::string_view name, std::span<const std::string_view> candidates) {
  std::vector<std::pair<int, std::string_view>> ranked;
  for (std::string_view candidate : candidates) {
    int distance = EditDistance(name, candidate);
    bool starts_alike = !name.empty() && (candidate.starts_with(name) || name.starts_with(candidate));
    ranked.emplace_back(starts_alike ? std::min(distance, 2) : distance, candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<std::string_view> nearest;
  for (const auto& [distance, candidate] : ranked) {
    // Beside a likely typing slip, far candidates would only distract.
    if (nearest.size() == 3 || (ranked[0].first <= 2 && distance > 3)) break;
    nearest.push_back(candidate);
  }
  return nearest;
}

std::string Join(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace belay::options
