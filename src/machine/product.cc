#include "machine/product.h"

#include <algorithm>

#include "machine/embedded.h"
#include "machine/toml_reader.h"
#include "options/text_file.h"

namespace belay::machine {
namespace {

using facts::Cann;
using facts::Family;

constexpr uint32_t kMaxDevices = 1024;
constexpr uint32_t kMaxCount = 1u << 24;

constexpr std::string_view kFamilyNames[] = {"950", "A3", "A2", "200I", "INF", "TRN"};
constexpr Family kFamilies[] = {Family::k950,  Family::kA3,  Family::kA2,
                                Family::k200I, Family::kInf, Family::kTrn};
constexpr std::string_view kVersionNames[] = {"8.1", "8.5", "9.0", "9.1"};

constexpr std::string_view kLinkNames[] = {"hccs",        "hccs-switch", "sio",
                                           "pcie-switch", "host-bridge", "system"};
constexpr LinkKind kLinkKinds[] = {LinkKind::kHccs,       LinkKind::kHccsSwitch, LinkKind::kSio,
                                   LinkKind::kPcieSwitch, LinkKind::kHostBridge, LinkKind::kSystem};

class ProductReader {
 public:
  ProductReader(Problem& problem, const toml::table& root) : problem_(problem), root_(problem, root, "") {}

  Product Read() {
    ReadHead();
    ReadDevices();
    ReadMemory();
    ReadLimits();
    ReadCores();
    ReadSimt();
    ReadLinks();
    ReadQuirks();
    root_.Finish();
    return std::move(product_);
  }

 private:
  const toml::table* Table(std::string_view key, bool required = true) {
    const toml::node* node = root_.Node(key, required);
    if (node == nullptr || node->is_table()) return node != nullptr ? node->as_table() : nullptr;
    problem_.Report(*node, std::string(key), "must be a table");
    return nullptr;
  }

  void ReadHead() {
    if (const toml::node* schema = root_.Node("schema")) {
      if (schema->value_exact<int64_t>() != 1) problem_.Report(*schema, "schema", "must be 1");
    }
    root_.Text("name", product_.name);
    root_.Text("title", product_.title);
    root_.Word("family", kFamilyNames, kFamilies, product_.family);
    root_.Text("soc", product_.soc);

    static constexpr std::string_view kForms[] = {"ep", "rc"};
    static constexpr Form kFormValues[] = {Form::kEp, Form::kRc};
    root_.Word("form", kForms, kFormValues, product_.form);
    // SPEC 00 rule 11
    if (product_.form == Form::kRc && product_.family != Family::k200I) {
      problem_.Report(*root_.Node("form"), "form", "can be \"rc\" for the family 200I only");
    }
  }

  void ReadDevices() {
    const toml::table* table = Table("devices");
    if (table == nullptr) return;
    TableReader devices(problem_, *table, "devices");
    devices.Whole("count", 1, kMaxDevices, product_.devices);
    devices.Whole("per_card", 1, kMaxDevices, product_.devices_per_card);
    devices.WholeList("physical", kMaxDevices - 1, product_.physical_ids);
    devices.Finish();
    if (problem_.found()) return;
    std::vector<int> ids = product_.physical_ids.value;
    std::sort(ids.begin(), ids.end());
    if (!ids.empty() &&
        (ids.size() != product_.devices.value || std::adjacent_find(ids.begin(), ids.end()) != ids.end())) {
      problem_.Report(*table, "devices.physical",
                      "must give each of the devices.count devices an id of its own");
    }
    if (product_.devices.value % product_.devices_per_card.value != 0) {
      problem_.Report(*table, "devices.count", "must be a multiple of devices.per_card");
    }
  }

  void ReadMemory() {
    const toml::table* table = Table("memory");
    if (table == nullptr) return;
    TableReader memory(problem_, *table, "memory");
    static constexpr std::string_view kKinds[] = {"hbm", "ddr"};
    static constexpr MemoryKind kKindValues[] = {MemoryKind::kHbm, MemoryKind::kDdr};
    memory.Word("kind", kKinds, kKindValues, product_.memory_kind);
    memory.Size("bytes", product_.memory_bytes);
    memory.Whole("p2p_window_percent", 0, 100, product_.p2p_window_percent);
    memory.Finish();

    // SPEC 30 §0.3: the pool is a set of 2 MiB pages, and only INF limits its P2P part.
    const uint64_t bytes = product_.memory_bytes.value;
    if (bytes == 0 || bytes % kPageBytes != 0 || bytes > kMaxMemoryBytes) {
      problem_.Report(*table, "memory.bytes", "must be a multiple of 2MiB, more than 0 and at most 16TiB");
    }
    if (product_.p2p_window_percent.value != 0 && product_.family != Family::kInf) {
      problem_.Report(*table, "memory.p2p_window_percent", "must be 0 but for the family INF");
    }
  }

  // Versions may differ: [limits."8.1"] names what is different there.
  void ReadLimits() {
    const toml::table* table = Table("limits");
    if (table == nullptr) return;
    TableReader reader(problem_, *table, "limits");
    Limits limits;
    ReadLimitRows(reader, limits, true);
    for (size_t i = 0; i < std::size(kVersionNames); ++i) {
      product_.limits[i] = limits;
      const toml::node* node = reader.Node(kVersionNames[i], false);
      if (node == nullptr) continue;
      if (!node->is_table()) {
        problem_.Report(*node, reader.Key(kVersionNames[i]), "must be a table");
        continue;
      }
      TableReader version(problem_, *node->as_table(), reader.Key(kVersionNames[i]));
      ReadLimitRows(version, product_.limits[i], false);
      version.Finish();
    }
    reader.Finish();
  }

  static void ReadLimitRows(TableReader& reader, Limits& limits, bool required) {
    reader.Whole("streams", 1, kMaxCount, limits.streams, required);
    reader.Whole("events", 1, kMaxCount, limits.events, required);
    reader.Whole("notifies", 1, kMaxCount, limits.notifies, required);
    reader.Whole("processes", 1, kMaxCount, limits.processes, required);
    reader.Whole("max_peers", 0, kMaxDevices, limits.max_peers, required);
  }

  void ReadCores() {
    const toml::table* table = Table("cores");
    if (table == nullptr) return;
    TableReader cores(problem_, *table, "cores");
    cores.Whole("ai_core", 0, kMaxCount, product_.cores.ai_core);
    cores.Whole("vector_core", 0, kMaxCount, product_.cores.vector_core);
    cores.Whole("ai_cpu", 0, kMaxCount, product_.cores.ai_cpu);
    cores.Size("l2_bytes", product_.cores.l2_bytes);
    cores.Whole("npu_arch", 0, kMaxCount, product_.cores.npu_arch);
    cores.Finish();
  }

  void ReadSimt() {
    const toml::table* table = Table("simt", false);
    if (table == nullptr) return;
    Simt simt;
    TableReader reader(problem_, *table, "simt");
    reader.Whole("warp_size", 1, kMaxCount, simt.warp_size);
    reader.Whole("threads_per_vector_core", 1, kMaxCount, simt.threads_per_vector_core);
    reader.Whole("local_bytes_per_vector_core", 1, kMaxCount, simt.local_bytes_per_vector_core);
    static constexpr std::string_view kGrid[] = {"max_grid_x", "max_grid_y", "max_grid_z"};
    static constexpr std::string_view kBlock[] = {"max_block_x", "max_block_y", "max_block_z"};
    for (size_t i = 0; i < 3; ++i) {
      reader.Whole(kGrid[i], 1, UINT32_MAX, simt.max_grid[i]);
      reader.Whole(kBlock[i], 1, UINT32_MAX, simt.max_block[i]);
    }
    reader.Whole("max_blocks_per_grid", 1, UINT32_MAX, simt.max_blocks_per_grid);
    reader.Whole("max_threads_per_block", 1, UINT32_MAX, simt.max_threads_per_block);
    reader.Finish();
    if (product_.family != Family::k950) problem_.Report(*table, "simt", "exists for the family 950 only");
    product_.simt = simt;
  }

  void ReadLinks() {
    // A product with one device has none.
    const toml::node* node = root_.Node("links", product_.devices.value > 1);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr) return problem_.Report(*node, "links", "must be tables of the form [[links]]");
    for (const toml::node& item : *list) {
      const std::string key = "links[" + std::to_string(product_.links.size()) + "]";
      const toml::table* table = item.as_table();
      if (table == nullptr) return problem_.Report(item, key, "must be a table of the form [[links]]");
      ReadLink(*table, key);
    }
  }

  void ReadLink(const toml::table& table, const std::string& key) {
    TableReader link(problem_, table, key);
    LinkRule rule;
    link.Word("kind", kLinkNames, kLinkKinds, rule.kind);
    if (const toml::node* node = link.Node("group")) {
      int64_t group = node->value_exact<int64_t>().value_or(0);
      if (group < 2 || group > kMaxDevices) {
        problem_.Report(*node, link.Key("group"), "must be a whole number from 2 to 1024");
      }
      rule.group = static_cast<int>(group);
    }
    static constexpr std::string_view kMatches[] = {"group", "position"};
    static constexpr bool kCrosswise[] = {false, true};
    link.Word("match", kMatches, kCrosswise, rule.crosswise, false);
    if (const toml::node* node = link.Node("peer")) {
      auto peer = node->value_exact<bool>();
      if (!peer) problem_.Report(*node, link.Key("peer"), "must be true or false");
      rule.peer = peer.value_or(false);
    }
    link.Decimal("bandwidth_gbps", rule.bandwidth_gbps);
    link.Decimal("latency_us", rule.latency_us);
    link.Text("note", rule.note, false);
    link.Finish();
    product_.links.push_back(std::move(rule));
  }

  void ReadQuirks() {
    if (const toml::table* table = Table("quirks", false)) ReadQuirkTable(*table, "");
  }

  // A dotted key is a table inside a table to TOML, and one name to us.
  void ReadQuirkTable(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      std::string value;
      if (const toml::table* inner = node.as_table()) {
        ReadQuirkTable(*inner, name + ".");
        continue;
      }
      if (auto text = node.value_exact<std::string>()) {
        value = *text;
      } else if (auto whole = node.value_exact<int64_t>()) {
        value = std::to_string(*whole);
      } else if (auto flag = node.value_exact<bool>()) {
        value = *flag ? "true" : "false";
      } else {
        problem_.Report(node, "quirks." + name, "must be a text, a whole number, true or false");
        return;
      }
      if (auto set = SetQuirk(product_.quirks, name, value); !set)
        problem_.Report(node, "[quirks]:", set.error());
    }
  }

  Problem& problem_;
  TableReader root_;
  Product product_;
};

bool IsPath(std::string_view name) {
  return name.find('/') != name.npos || name.ends_with(".toml");
}

}  // namespace

tl::expected<Product, std::string> ParseProduct(std::string_view text, std::string_view origin) {
  toml::parse_result result = toml::parse(text, origin);
  if (!result) {
    const toml::parse_error& error = result.error();
    return tl::unexpected(std::string(origin) + ":" + std::to_string(error.source().begin.line) + ": " +
                          std::string(error.description()));
  }
  Problem problem(origin);
  Product product = ProductReader(problem, result.table()).Read();
  if (problem.found()) return tl::unexpected(problem.text());
  return product;
}

tl::expected<Product, std::string> LoadProduct(std::string_view name_or_path) {
  const std::string name(name_or_path);
  if (IsPath(name)) {
    auto text = options::ReadTextFile(name);
    if (!text) return tl::unexpected("the product file '" + name + "' cannot be read");
    return ParseProduct(*text, name);
  }
  std::string_view text = ProductText(name);
  if (!text.empty()) return ParseProduct(text, name + ".toml");

  std::vector<std::string_view> names;
  for (const EmbeddedProduct& product : EmbeddedProducts()) names.push_back(product.name);
  return tl::unexpected("there is no product '" + name + "'; known are " + options::Join(names) +
                        ", or the path of a file that ends in .toml");
}

std::vector<std::string> ProductNames() {
  std::vector<std::string> names;
  for (const EmbeddedProduct& product : EmbeddedProducts()) names.emplace_back(product.name);
  return names;
}

std::string_view ProductText(std::string_view name) {
  for (const EmbeddedProduct& product : EmbeddedProducts()) {
    if (product.name == name) return product.text;
  }
  return {};
}

}  // namespace belay::machine
