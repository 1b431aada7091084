#include "runtime/init_config.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

namespace belay::runtime {
namespace {
using Json = nlohmann::json;

constexpr int32_t kParse = 100006, kMissing = 100007, kInvalid = 100008, kDump = 100009, kProfiling = 100010,
                  kQueue = 148048;
constexpr int kMostLevels = 10;

// Walks through the text without keeping it: syntax and depth, before anything recursive sees it.
class Survey : public nlohmann::json_sax<Json> {
 public:
  const std::string& why() const { return why_; }
  size_t where() const { return where_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(size_t) override { return Deeper(&objects_, "{"); }
  bool end_object() override { return --objects_, true; }
  bool start_array(size_t) override { return Deeper(&arrays_, "["); }
  bool end_array() override { return --arrays_, true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    where_ = position;
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without its own place.
    why_ = error.what();
    if (size_t at = why_.find("column "); at != why_.npos && (at = why_.find(": ", at)) != why_.npos)
      why_.erase(0, at + 2);
    return false;
  }

 private:
  bool Deeper(int* level, const char* bracket) {
    if (++*level <= kMostLevels) return true;
    why_ = "more than " + std::to_string(kMostLevels) + " levels of " + bracket;
    return false;
  }

  int objects_ = 0, arrays_ = 0;
  std::string why_;
  size_t where_ = 0;
};

tl::unexpected<ConfigProblem> No(int32_t code, std::string why) {
  return tl::unexpected(ConfigProblem{code, std::move(why)});
}

std::string Place(std::string_view text, size_t position) {
  size_t end = std::min(position == 0 ? 0 : position - 1, text.size());
  size_t line =
      static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '\n'));
  size_t start = text.substr(0, end).rfind('\n');
  size_t column = start == text.npos ? end : end - start - 1;
  return "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1);
}

// A number in decimal digits, as a string.
std::optional<int64_t> Decimal(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  if (text.empty() || text.size() > 10 || text.find_first_not_of("0123456789") != text.npos)
    return std::nullopt;
  int64_t number = std::stoll(text);
  if (number > std::numeric_limits<int32_t>::max()) return std::nullopt;
  return number;
}

// "on" or "off"; false when it is neither.
bool Switch(const Json& object, const char* key, bool* on) {
  auto found = object.find(key);
  if (found == object.end()) return true;
  *on = *found == "on";
  return *on || *found == "off";
}

struct Dump {
  bool path = false, models = false, operators = false, overflow = false, exceptions = false;
  std::string problem;  // 100009
};

Dump ReadDump(const Json& dump) {
  Dump read;
  if (!dump.is_object()) {
    read.problem = "dump must be an object";
    return read;
  }
  auto path = dump.find("dump_path");
  if (path != dump.end() && !path->is_string()) read.problem = "dump.dump_path must be a string";
  read.path = path != dump.end() && *path != "";
  if (auto list = dump.find("dump_list"); list != dump.end()) {
    if (!list->is_array()) read.problem = "dump.dump_list must be an array";
    read.models = !list->empty();
  }
  if (auto scene = dump.find("dump_scene"); scene != dump.end()) {
    if (*scene != "lite_exception" && *scene != "lite_exception:disable")
      read.problem = "dump.dump_scene must be \"lite_exception\" or \"lite_exception:disable\"";
    read.exceptions = *scene == "lite_exception";
  }
  if (auto mode = dump.find("dump_mode"); mode != dump.end() && !mode->is_string())
    read.problem = "dump.dump_mode must be a string";
  if (!Switch(dump, "dump_op_switch", &read.operators))
    read.problem = "dump.dump_op_switch must be \"on\" or \"off\"";
  if (!Switch(dump, "dump_debug", &read.overflow)) read.problem = "dump.dump_debug must be \"on\" or \"off\"";
  if (read.overflow && (read.models || read.operators))
    read.problem = "dump.dump_debug excludes the dump of models and of single operators";
  return read;
}

constexpr const char* kKnown[] = {"dump",         "profiler",      "max_opqueue_num",
                                  "err_msg_mode", "defaultDevice", "op_debug_config"};

}  // namespace

// SPEC 10 §1.2: from the top of its table to the bottom, the first problem wins.
tl::expected<InitConfig, ConfigProblem> ParseInitConfig(std::string_view text) {
  Survey survey;
  if (!Json::sax_parse(text.begin(), text.end(), &survey)) {
    if (survey.where() == 0) return No(kParse, survey.why());
    return No(kParse, Place(text, survey.where()) + ": " + survey.why());
  }
  Json root = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!root.is_object()) return No(kParse, "line 1, column 1: the top level must be an object");

  InitConfig config;
  const Json* device = root.contains("defaultDevice") ? &root["defaultDevice"] : nullptr;
  Dump dump = root.contains("dump") ? ReadDump(root["dump"]) : Dump();
  if (device != nullptr && device->is_object() && !device->contains("default_device"))
    return No(kMissing, "defaultDevice has no default_device");
  if ((dump.models || dump.operators || dump.overflow) && !dump.path)
    return No(kMissing, "a dump is switched on, but dump has no dump_path");

  if (device != nullptr) {
    if (!device->is_object()) return No(kInvalid, "defaultDevice must be an object");
    config.default_device = Decimal((*device)["default_device"]);
    if (!config.default_device)
      return No(kInvalid, "defaultDevice.default_device must be a device id in decimal digits, as a string");
  }
  if (root.contains("err_msg_mode")) {
    const Json& mode = root["err_msg_mode"];
    if (mode != "0" && mode != "1") return No(kInvalid, "err_msg_mode must be \"0\" or \"1\"");
    config.process_messages = mode == "1";
  }
  if (!dump.problem.empty()) return No(kDump, dump.problem);
  config.dumps = dump.models || dump.operators || dump.overflow || dump.exceptions;
  if (root.contains("profiler") && !root["profiler"].is_object())
    return No(kProfiling, "profiler must be an object");
  if (root.contains("max_opqueue_num") && Decimal(root["max_opqueue_num"]).value_or(0) == 0)
    return No(kQueue, "max_opqueue_num must be a positive number in decimal digits, as a string");

  for (const auto& [key, value] : root.items()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown))
      config.ignored.push_back(key);
  }
  config.canonical = root.dump(-1, ' ', true, Json::error_handler_t::replace);
  return config;
}

}  // namespace belay::runtime
