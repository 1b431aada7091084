#include "options/syntax.h"

namespace belay::options {
namespace {

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool IsSeparator(char c) {
  return c == ';' || IsBlank(c);
}

bool NeedsQuotes(std::string_view value) {
  if (value.empty()) return true;
  for (char c : value) {
    if (IsSeparator(c) || c == '\'') return true;
  }
  return false;
}

// Reads the quoted value that starts at text[at] and moves `at` behind it; false when the quote is never
// closed.
bool TakeQuoted(std::string_view text, size_t& at, std::string& value) {
  for (++at; at < text.size(); ++at) {
    if (text[at] != '\'') {
      value += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '\'') {
      value += text[++at];
    } else {
      ++at;
      return true;
    }
  }
  return false;
}

}  // namespace

tl::expected<std::vector<Pair>, std::string> ParsePairs(std::string_view text) {
  std::vector<Pair> pairs;
  size_t at = 0;
  while (true) {
    while (at < text.size() && IsSeparator(text[at])) ++at;
    if (at == text.size()) return pairs;

    size_t start = at;
    while (at < text.size() && text[at] != '=' && !IsSeparator(text[at])) ++at;
    std::string name(text.substr(start, at - start));
    if (at == text.size() || text[at] != '=') {
      return tl::unexpected("'" + name + "' has no value: write " + name +
                            "=VALUE without blanks around '='");
    }
    if (name.empty())
      return tl::unexpected(std::string("a value has no name: write NAME=VALUE without blanks around '='"));
    ++at;

    std::string value;
    if (at < text.size() && text[at] == '\'') {
      if (!TakeQuoted(text, at, value))
        return tl::unexpected("the quote after " + name + "= is never closed");
      if (at < text.size() && !IsSeparator(text[at])) {
        return tl::unexpected("the quotes after " + name + "= must enclose the whole value");
      }
    } else {
      start = at;
      while (at < text.size() && !IsSeparator(text[at])) ++at;
      value = text.substr(start, at - start);
      if (value.empty()) return tl::unexpected("'" + name + "' has no value: write " + name + "=VALUE");
      if (value.find('\'') != std::string::npos) {
        return tl::unexpected("the quotes after " + name +
                              "= must enclose the whole value; inside them '' is one quote");
      }
    }
    pairs.emplace_back(std::move(name), std::move(value));
  }
}

std::string FormatPairs(const std::vector<Pair>& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs) {
    if (!text.empty()) text += "; ";
    text += name + "=";
    if (!NeedsQuotes(value)) {
      text += value;
      continue;
    }
    text += '\'';
    for (char c : value) {
      if (c == '\'') text += '\'';
      text += c;
    }
    text += '\'';
  }
  return text;
}

}  // namespace belay::options
