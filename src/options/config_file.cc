#include "options/config_file.h"

#include <charconv>

#include "options/text_file.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace belay::options {
namespace {

using Settings = std::vector<FileSetting>;

std::string Decimal(double value) {
  char buffer[400];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string text(buffer, end);
  // 9.0 must stay "9.0": it may be a version.
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  tl::expected<Settings, std::string> Read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      std::string name(key.str());
      bool ok = true;
      if (const toml::table* table = node.as_table()) {
        ok = name == "quirk" ? AddQuirks(*table, "") : Refuse(node, name, "cannot be a table");
      } else if (const toml::array* list = node.as_array()) {
        for (const toml::node& item : *list) ok = ok && AddValue(name, "", item);
      } else {
        ok = AddValue(name, "", node);
      }
      if (!ok) return tl::unexpected(error_);
    }
    return std::move(settings_);
  }

 private:
  std::string Where(const toml::node& node) const {
    return path_ + ":" + std::to_string(node.source().begin.line);
  }

  bool Refuse(const toml::node& node, const std::string& name, const std::string& rule) {
    error_ = Where(node) + ": '" + name + "' " + rule;
    return false;
  }

  // A dotted key is a table inside a table to TOML, and one name to us.
  bool AddQuirks(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      std::string name = prefix + std::string(key.str());
      const toml::table* inner = node.as_table();
      if (inner != nullptr ? !AddQuirks(*inner, name + ".") : !AddValue("quirk", name + "=", node))
        return false;
    }
    return true;
  }

  bool AddValue(const std::string& name, const std::string& prefix, const toml::node& node) {
    std::string text;
    if (auto string = node.value_exact<std::string>()) {
      text = *string;
    } else if (auto whole = node.value_exact<int64_t>()) {
      text = std::to_string(*whole);
    } else if (auto real = node.value_exact<double>()) {
      text = Decimal(*real);
    } else if (auto flag = node.value_exact<bool>()) {
      text = *flag ? "on" : "off";
    } else {
      return Refuse(node, name, "must be a text, a number, true or false");
    }
    settings_.push_back({name, prefix + text, Where(node)});
    return true;
  }

  const std::string& path_;
  Settings settings_;
  std::string error_;
};

}  // namespace

tl::expected<Settings, std::string> ReadConfigFile(const std::string& path) {
  std::optional<std::string> text = ReadTextFile(path);
  if (!text) return tl::unexpected("BELAY_CONFIG: the file '" + path + "' cannot be read");

  toml::parse_result result = toml::parse(*text, path);
  if (!result) {
    const toml::parse_error& error = result.error();
    return tl::unexpected(path + ":" + std::to_string(error.source().begin.line) + ": " +
                          std::string(error.description()));
  }
  return Reader(path).Read(result.table());
}

}  // namespace belay::options
