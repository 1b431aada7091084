// The configuration file of aclInit: what it says, or why it is refused. // SPEC 10 §1.1, §1.2
//
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace belay::runtime {

struct InitConfig {
  bool process_messages = false;          // err_msg_mode "1"
  std::optional<int64_t> default_device;  // not checked against the devices yet
  bool dumps = false;                     // some dump is switched on
  std::vector<std::string> ignored;       // keys that are not known
  std::string canonical;                  // equal for files that say the same
};

struct ConfigProblem {
  int32_t code = 0;
  std::string why;
};

tl::expected<InitConfig, ConfigProblem> ParseInitConfig(std::string_view text);

}  // namespace belay::runtime
