// The codes and copy kinds of the interface that the interpreter knows (SPEC 20 §0.1, 31 §0.1).
#pragma once

#include <cstdint>

namespace model {

inline constexpr int kInvalidParam = 100000, kParam = 107000, kStreamContext = 107003,
                     kSubscribeTwice = 107011, kNoCallbackThread = 107015, kInvalidHandle = 107017,
                     kNotSupported = 207000, kStreamTimeout = 507046, kEventTimeout = 507047;
inline constexpr int64_t kHostToHost = 0, kStaged = 5;

}  // namespace model
