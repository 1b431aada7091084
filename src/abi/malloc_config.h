// The attributes of an allocation: SPEC 30 §2.6.
#pragma once

#include "abi/call.h"

namespace belay::abi {

struct MallocConfig {
  enum class For : uint8_t { kDevice, kHost };

  uint16_t module = memory::ModuleUsage::kApplication;
  bool has_device = false;
  uint32_t device = 0;
  bool va_flag = false;
};

// The last of equal attributes wins. Refuses a missing array, unknown attributes, and the VA flag where it is
// not known.
Status ReadMallocConfig(const Call& call, const aclrtMallocConfig& cfg, MallocConfig::For use,
                        MallocConfig* config);

// A device attribute must name the current device (107000).
Status NeedConfigDevice(const Call& call, const MallocConfig& config, const runtime::Device& current);

}  // namespace belay::abi
