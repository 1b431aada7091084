// A product: one server with its devices, read from a TOML file whose numbers all say where they come from.
//
// The files of products/ are compiled into the library, so a name needs no file at run time.
// Threading: immutable once loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "belay/facts/functions.h"
#include "machine/quirks.h"
#include "machine/topology.h"

namespace belay::machine {

// Device memory comes in pages of 2 MiB. // SPEC 30 §0.3
inline constexpr uint64_t kPageBytes = 2ull << 20;
inline constexpr uint64_t kMaxMemoryBytes = 16ull << 40;  // per device

enum class MemoryKind : uint8_t { kHbm, kDdr };
enum class Form : uint8_t { kEp, kRc };  // kRc: the board form of the 200I family // SPEC 00 rule 11

// Per physical device, shared by all processes. // SPEC 20 §2.1, 10 §4.7, 32 §2.2
struct Limits {
  Marked<uint32_t> streams;
  Marked<uint32_t> events;
  Marked<uint32_t> notifies;
  Marked<uint32_t> processes;
  Marked<uint32_t> max_peers;  // 0 = no limit
};

// SPEC 10 §5.2
struct Cores {
  Marked<uint32_t> ai_core;
  Marked<uint32_t> vector_core;
  Marked<uint32_t> ai_cpu;
  Marked<uint64_t> l2_bytes;
  Marked<uint32_t> npu_arch;
};

// Launch limits of the families that run threads (950). Absent unless the file has the table [simt].
// SPEC 10 §5.2
struct Simt {
  Marked<uint32_t> warp_size;
  Marked<uint32_t> threads_per_vector_core;
  Marked<uint32_t> local_bytes_per_vector_core;
  Marked<uint32_t> max_grid[3];
  Marked<uint32_t> max_blocks_per_grid;
  Marked<uint32_t> max_threads_per_block;
  Marked<uint32_t> max_block[3];
};

struct Product {
  std::string name;
  std::string title;
  facts::Family family = facts::Family::kA2;
  std::string soc;  // what aclrtGetSocName says
  Form form = Form::kEp;
  Marked<uint32_t> devices;
  Marked<uint32_t> devices_per_card;
  // Physical id by logical id, as a container sees them; empty: they are equal. // SPEC 10 §3.1
  Marked<std::vector<int>> physical_ids;
  MemoryKind memory_kind = MemoryKind::kHbm;
  Marked<uint64_t> memory_bytes;        // per device, net of what the system keeps // SPEC 30 §0.3
  Marked<uint32_t> p2p_window_percent;  // of memory_bytes; 0 = no separate window
  Limits limits[static_cast<int>(facts::Cann::kCount)];  // by version
  Cores cores;
  std::optional<Simt> simt;
  std::vector<LinkRule> links;  // nearest first
  Quirks quirks;
};

// A name of ProductNames(), or, with a '/' or the ending .toml, the path of a file.
// The error names file, line, key and rule.
tl::expected<Product, std::string> LoadProduct(std::string_view name_or_path);

// `origin` stands for the file name in errors.
tl::expected<Product, std::string> ParseProduct(std::string_view toml, std::string_view origin);

std::vector<std::string> ProductNames();
// The TOML text of an embedded product; empty when there is none of that name.
std::string_view ProductText(std::string_view name);

}  // namespace belay::machine
