#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "command.h"
#include "machine/product.h"
#include "options/options.h"
#include "options/values.h"

namespace belay::tool {

namespace {

using Json = nlohmann::ordered_json;

void PrintHelp() {
  puts(
      "belay products [--json] [NAME]\n\n"
      "Lists the products that --product takes by name. With a NAME, or the path of a file, prints every "
      "number "
      "of that\n"
      "product and where it comes from: doc (public vendor documentation), measured (seen on hardware) or "
      "assumed\n"
      "(nobody published it). A product of your own is a TOML file: --product my.toml (start from one in\n"
      "share/belay/products).\n\n"
      "Example: belay products atlas-900-a3");
}

const char* KindName(machine::MemoryKind kind) {
  return kind == machine::MemoryKind::kHbm ? "HBM" : "DDR";
}

template <class T>
Json Number(const machine::Marked<T>& number) {
  return {{"value", number.value},
          {"source", machine::MarkName(number.mark)},
          {"note", number.note.empty() ? Json() : Json(number.note)}};
}

Json LimitsJson(const machine::Limits& limits) {
  return {{"streams", Number(limits.streams)},
          {"events", Number(limits.events)},
          {"notifies", Number(limits.notifies)},
          {"processes", Number(limits.processes)},
          {"max_peers", Number(limits.max_peers)}};
}

// The limits of the default version, and under the name of each other version what differs there.
Json VersionedLimitsJson(const machine::Product& product) {
  const Json standard = LimitsJson(product.limits[static_cast<int>(options::Options{}.cann)]);
  Json limits = standard;
  for (int i = 0; i < static_cast<int>(facts::Cann::kCount); ++i) {
    Json different = Json::object();
    const Json all = LimitsJson(product.limits[i]);
    for (const auto& [key, value] : all.items()) {
      if (value != standard[key]) different[key] = value;
    }
    if (!different.empty()) limits[facts::CannName(static_cast<facts::Cann>(i))] = different;
  }
  return limits;
}

Json ToJson(const machine::Product& product) {
  Json links = Json::array();
  for (const machine::LinkRule& rule : product.links) {
    links.push_back({{"kind", machine::LinkKindName(rule.kind)},
                     {"group", rule.group},
                     {"match", rule.crosswise ? "position" : "group"},
                     {"peer", rule.peer},
                     {"bandwidth_gbps", Number(rule.bandwidth_gbps)},
                     {"latency_us", Number(rule.latency_us)}});
  }
  return {{"name", product.name},
          {"title", product.title},
          {"family", facts::FamilyName(product.family)},
          {"soc", product.soc},
          {"form", product.form == machine::Form::kRc ? "rc" : "ep"},
          {"devices", Number(product.devices)},
          {"devices_per_card", Number(product.devices_per_card)},
          {"memory_kind", KindName(product.memory_kind)},
          {"memory_bytes", Number(product.memory_bytes)},
          {"p2p_window_percent", Number(product.p2p_window_percent)},
          {"limits", VersionedLimitsJson(product)},
          {"cores",
           {{"ai_core", Number(product.cores.ai_core)},
            {"vector_core", Number(product.cores.vector_core)},
            {"ai_cpu", Number(product.cores.ai_cpu)},
            {"l2_bytes", Number(product.cores.l2_bytes)},
            {"npu_arch", Number(product.cores.npu_arch)}}},
          {"links", links}};
}

// A line for each number below `node`; a number is an object that says its source.
void PrintNumbers(const Json& node, const std::string& path) {
  if (node.is_object() && node.contains("source")) {
    const Json& value = node["value"];
    const std::string text =
        path.ends_with("_bytes") ? options::FormatSize(value.get<uint64_t>()) : value.dump();
    const std::string note = node["note"].is_null() ? "" : node["note"].get<std::string>();
    printf("%-26s  %9s  %-8s  %s\n", path.c_str(), text.c_str(), node["source"].get<std::string>().c_str(),
           note.c_str());
    return;
  }
  if (node.is_array()) {
    for (size_t i = 0; i < node.size(); ++i) PrintNumbers(node[i], path + "[" + std::to_string(i) + "]");
  } else if (node.is_object()) {
    for (const auto& [key, value] : node.items()) PrintNumbers(value, path.empty() ? key : path + "." + key);
  }
}

int PrintProduct(const std::string& name, bool json) {
  auto product = machine::LoadProduct(name);
  if (!product) return Refuse(product.error());
  const Json facts = ToJson(*product);
  if (json) {
    puts(facts.dump(1).c_str());
    return 0;
  }
  printf("%s: %s\nfamily %s, SoC %s, memory %s, form %s\n", product->name.c_str(), product->title.c_str(),
         facts::FamilyName(product->family), product->soc.c_str(), KindName(product->memory_kind),
         product->form == machine::Form::kRc ? "rc (a board)" : "ep (a card or module)");
  for (size_t i = 0; i < product->links.size(); ++i) {
    const machine::LinkRule& rule = product->links[i];
    printf("links[%zu]: %s, %s %d, %s\n", i, machine::LinkKindName(rule.kind),
           rule.crosswise ? "equal places in groups of" : "groups of", rule.group,
           rule.peer ? "peer access" : "no peer access");
  }
  printf("\n%-26s  %9s  %-8s  note\n", "number", "value", "source");
  PrintNumbers(facts, "");
  return 0;
}

}  // namespace

int ProductsCommand(Arguments arguments) {
  bool json = false;
  std::string name;
  for (std::string_view word : arguments) {
    if (word == "--help" || word == "-h") {
      PrintHelp();
      return 0;
    }
    if (word == "--json") {
      json = true;
      continue;
    }
    if (word.starts_with("-"))
      return Refuse("products has the option --json only, not '" + std::string(word) + "'");
    if (!name.empty())
      return Refuse("products takes one name, not '" + name + "' and '" + std::string(word) + "'");
    name = word;
  }
  if (!name.empty()) return PrintProduct(name, json);
  std::vector<machine::Product> products;
  size_t width = 4;
  for (const std::string& known : machine::ProductNames()) {
    auto product = machine::LoadProduct(known);
    if (!product) return Refuse(product.error());
    width = std::max(width, product->name.size());
    products.push_back(std::move(*product));
  }
  if (json) {
    Json list = Json::array();
    for (const auto& product : products) list.push_back(ToJson(product));
    puts(list.dump(1).c_str());
    return 0;
  }
  const int column = static_cast<int>(width);
  printf("%-*s  devices  %-12s  family  %-16s  title\n", column, "name", "memory", "SoC");
  for (const auto& product : products) {
    std::string memory =
        options::FormatSize(product.memory_bytes.value) + " " + KindName(product.memory_kind);
    printf("%-*s  %7u  %-12s  %-6s  %-16s  %s\n", column, product.name.c_str(), product.devices.value,
           memory.c_str(), facts::FamilyName(product.family), product.soc.c_str(), product.title.c_str());
  }
  return 0;
}

}  // namespace belay::tool
