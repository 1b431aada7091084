// The stable ids of findings. Order and spelling are a promise (docs/findings/).
#pragma once

#include <cstdint>

namespace belay::check {

enum class Severity : uint8_t { kNote, kWarning, kError };

enum class FindingId : uint8_t {
  kNoContext,
  kWrongContext,
  kBadArgument,
  kBadHandle,
  kUnsupported,
  kWrongSide,
  kOutOfBounds,
  kUseAfterFree,
  kDoubleFree,
  kUnknownPointer,
  kUninitializedRead,
  kDevicePointerTouched,
  kPeerNotEnabled,
  kPeerUnreachable,
  kMissingOrder,
  kHostSourceChanged,
  kHostTargetEarly,
  kHostBufferGone,
  kImplicitOrder,
  kNeverFires,
  kEventMisuse,
  kCallbackMisuse,
  kUnknownKernel,
  kCaptureViolation,
  kTeardownOrder,
  kLeak,
  kAfterFinalize,
  kForkAfterInit,
  kResourceExhausted,
  kDeviceFault,
  kIpcDenied,
  kVersionDependent,
  kSlowPattern,
  kCount
};

struct FindingKind {
  const char* id;     // "peer-not-enabled"
  const char* title;  // "device-to-device access in a direction that was not enabled"
  Severity severity;  // the usual one; a finding may carry a milder one
  bool built;         // false: `check` and doctor refuse and list it as not built yet
};

const FindingKind& Kind(FindingId id);

// "note", "warning" or "error".
const char* SeverityName(Severity severity);

}  // namespace belay::check
