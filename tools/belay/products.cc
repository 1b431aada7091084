#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "command.h"
#include "machine/product.h"
#include "options/values.h"

namespace belay::tool {

namespace {

using Json = nlohmann::ordered_json;

void PrintHelp() {
  puts(
      "belay products [--json]\n\n"
      "Lists the products that --product takes by name. A product of your own is a TOML file: --product "
      "my.toml\n"
      "(start from one in share/belay/products).\n\n"
      "Example: belay products --json");
}

const char* KindName(machine::MemoryKind kind) {
  return kind == machine::MemoryKind::kHbm ? "HBM" : "DDR";
}

Json ToJson(const machine::Product& product) {
  auto marked = [](const auto& number) {
    return Json{{"value", number.value},
                {"source", machine::MarkName(number.mark)},
                {"note", number.note.empty() ? Json() : Json(number.note)}};
  };
  return {{"name", product.name},
          {"title", product.title},
          {"family", facts::FamilyName(product.family)},
          {"soc", product.soc},
          {"devices", marked(product.devices)},
          {"devices_per_card", marked(product.devices_per_card)},
          {"memory_kind", KindName(product.memory_kind)},
          {"memory_bytes", marked(product.memory_bytes)}};
}

}  // namespace

int ProductsCommand(Arguments arguments) {
  bool json = false;
  for (std::string_view word : arguments) {
    if (word == "--help" || word == "-h") {
      PrintHelp();
      return 0;
    }
    if (word != "--json") return Refuse("products takes --json only, not '" + std::string(word) + "'");
    json = true;
  }
  std::vector<machine::Product> products;
  size_t width = 4;
  for (const std::string& name : machine::ProductNames()) {
    auto product = machine::LoadProduct(name);
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
  printf("%-*s  devices  %-10s  family  %-14s  title\n", column, "name", "memory", "SoC");
  for (const auto& product : products) {
    std::string memory =
        options::FormatSize(product.memory_bytes.value) + " " + KindName(product.memory_kind);
    printf("%-*s  %7u  %-10s  %-6s  %-14s  %s\n", column, product.name.c_str(), product.devices.value,
           memory.c_str(), facts::FamilyName(product.family), product.soc.c_str(), product.title.c_str());
  }
  return 0;
}

}  // namespace belay::tool
