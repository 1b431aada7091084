// Reads TOML tables strictly: every key must be asked for, every number must say where it comes from.
//
// The first problem is kept and later calls do nothing, so a reader is written as a plain list of fields.
// Threading: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/topology.h"
#include "options/nearest.h"
#include "options/values.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace belay::machine {

// The first problem of a file.
class Problem {
 public:
  explicit Problem(std::string_view origin) : origin_(origin) {}

  bool found() const { return !text_.empty(); }
  const std::string& text() const { return text_; }

  void Report(const toml::node& node, const std::string& key, const std::string& rule) {
    if (found()) return;
    text_ = origin_ + ":" + std::to_string(node.source().begin.line) + ": " + key + " " + rule;
  }

 private:
  std::string origin_;
  std::string text_;
};

class TableReader {
 public:
  // `path` is the table's own key, empty for the root.
  TableReader(Problem& problem, const toml::table& table, std::string path)
      : problem_(problem), table_(table), path_(std::move(path)) {}

  std::string Key(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

  // The node of a key; null when it is missing, which is a problem if it is required.
  const toml::node* Node(std::string_view key, bool required = true) {
    known_.push_back(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr && required) problem_.Report(table_, Key(key), "is missing");
    return node;
  }

  void Text(std::string_view key, std::string& text, bool required = true) {
    const toml::node* node = Node(key, required);
    if (node == nullptr) return;
    auto value = node->value_exact<std::string>();
    if (!value || value->empty()) return problem_.Report(*node, Key(key), "must be a text in quotes");
    text = *value;
  }

  // One of a few words; `names[i]` stands for `values[i]`.
  template <class E, size_t N>
  void Word(std::string_view key, const std::string_view (&names)[N], const E (&values)[N], E& out,
            bool required = true) {
    std::string text;
    Text(key, text, required);
    if (text.empty()) return;
    for (size_t i = 0; i < N; ++i) {
      if (names[i] == text) {
        out = values[i];
        return;
      }
    }
    problem_.Report(*table_.get(key), Key(key),
                    "is '" + text + "' but must be one of " + options::Join(names));
  }

  // { value = 8, source = "doc", note = "..." }
  void Whole(std::string_view key, uint64_t low, uint64_t high, Marked<uint32_t>& out, bool required = true) {
    MarkedValue(key, out, required, [&](const toml::node& node) {
      auto value = node.value_exact<int64_t>();
      bool fits = value && *value >= 0 && static_cast<uint64_t>(*value) >= low &&
                  static_cast<uint64_t>(*value) <= high;
      if (fits) out.value = static_cast<uint32_t>(*value);
      return fits ? "" : "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    });
  }

  // { value = [6, 7], source = "doc" }: an optional list of whole numbers from 0 to `high`.
  void WholeList(std::string_view key, int64_t high, Marked<std::vector<int>>& out) {
    MarkedValue(key, out, false, [&](const toml::node& node) {
      const toml::array* list = node.as_array();
      bool fits = list != nullptr && !list->empty();
      for (size_t i = 0; fits && i < list->size(); ++i) {
        auto value = list->get(i)->value_exact<int64_t>();
        fits = value && *value >= 0 && *value <= high;
        if (fits) out.value.push_back(static_cast<int>(*value));
      }
      return fits ? std::string() : "must be a list of whole numbers from 0 to " + std::to_string(high);
    });
  }

  void Size(std::string_view key, Marked<uint64_t>& out, bool required = true) {
    MarkedValue(key, out, required, [&](const toml::node& node) {
      std::string text = node.value_exact<std::string>().value_or("");
      if (auto whole = node.value_exact<int64_t>()) text = std::to_string(*whole);
      auto size = options::ParseSize(text);
      if (size) out.value = *size;
      return size ? std::string() : "must be " + std::string(options::kSizeForm);
    });
  }

  void Decimal(std::string_view key, Marked<double>& out, bool required = true) {
    MarkedValue(key, out, required, [&](const toml::node& node) {
      auto value = node.value<double>();
      bool fits = node.is_number() && value && *value >= 0 && *value < 1e9;
      if (fits) out.value = *value;
      return fits ? std::string() : std::string("must be a number that is not negative");
    });
  }

  // Reports the first key that nobody asked for.
  void Finish() {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      problem_.Report(node, Key(key.str()),
                      "is not a key of this table; the nearest are " +
                          options::Join(options::Nearest(key.str(), known_)));
    }
  }

 private:
  template <class T, class Read>
  void MarkedValue(std::string_view key, Marked<T>& out, bool required, Read read) {
    const toml::node* node = Node(key, required);
    if (node == nullptr) return;
    if (!node->is_table()) {
      return problem_.Report(
          *node, Key(key),
          "must say where it comes from: { value = ..., source = \"doc\" }, or measured, or "
          "assumed");
    }
    TableReader inner(problem_, *node->as_table(), Key(key));
    if (const toml::node* value = inner.Node("value")) {
      if (std::string rule = read(*value); !rule.empty()) problem_.Report(*value, inner.Key("value"), rule);
    }
    static constexpr std::string_view kNames[] = {"doc", "measured", "assumed"};
    static constexpr Mark kMarks[] = {Mark::kDoc, Mark::kMeasured, Mark::kAssumed};
    inner.Word("source", kNames, kMarks, out.mark);
    inner.Text("note", out.note, false);
    inner.Finish();
  }

  Problem& problem_;
  const toml::table& table_;
  std::string path_;
  std::vector<std::string_view> known_;
};

}  // namespace belay::machine
