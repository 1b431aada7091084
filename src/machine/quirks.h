// Profile keys: switches between versions and products, where the specification knows more than one
// behaviour.
//
// A product file sets them in [quirks], the option `quirk` overrides them one by one. Keys that nothing reads
// yet exist in the table, and setting one to anything but its default is refused as not built yet. Threading:
// a value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace belay::machine {

struct Quirks {
  bool event_cross_device = false;       // ordinary events work across the devices of a process; SPEC 32 §4
  bool peer_require_both = false;        // a cross-device copy needs both directions open; SPEC 32 §3
  bool peer_lenient = false;             // a copy without peer access goes through the host; SPEC 32 §3
  int32_t stream_exhaust_code = 207008;  // SPEC 20 §0.1 R1
  bool reset_counting_old = false;       // one ResetDevice releases, whatever the count; SPEC 10 §4.2
  uint64_t host_pin_limit = 0;           // largest pinned block in bytes, 0 = no limit; SPEC 30 §3.1
  int32_t fatal_alloc_code = 207001;     // of what is created on a broken device; SPEC 21 §6.3
  bool callback_strict = false;          // host functions may call nothing; SPEC 21 §3.1
  bool phyid_by_logic = false;           // aclrtGetPhyDevIdByLogicDevId takes a logical id; SPEC 10 §3.1
  int32_t init_bad_path_code = 100003;   // of aclInit when its file cannot be read; SPEC 10 §1.2
  bool strict_init = false;              // calls before aclInit fail with 100001; SPEC 10 §2.4
  bool ptrattr_strict = false;           // attributes of an unknown pointer are an error; SPEC 34 §3
};

struct QuirkInfo {
  std::string_view name;
  std::string_view values;    // for people: "off, allow"
  std::string_view standard;  // the default
  std::string_view help;      // one sentence
  bool built = true;
};

std::span<const QuirkInfo> QuirkTable();

// Applies one key. The error names the key, the allowed values and, for an unknown key, the nearest ones.
tl::expected<void, std::string> SetQuirk(Quirks& quirks, std::string_view name, std::string_view value);

}  // namespace belay::machine
