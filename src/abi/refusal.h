// How a call says no: the code, and a finding that names argument, value and rule.
//
//   return call.Refuse(code::kRtParam, FindingId::kOutOfBounds)
//       .Say("count %zu leaves ...", count).Rule("... (SPEC 31 §0.4)").Fix("...").End();
//
// Guarantees: End() stores the code and the text for aclrtGetLastError and aclGetRecentErrMsg, whatever
// `check` says, and reports the finding if it is wanted. Threading: lives inside one call.
#pragma once

#include <cstdarg>
#include <cstdint>

#include "base/status.h"
#include "check/finding.h"
#include "runtime/objects.h"

namespace belay::abi {

class Call;

// Return codes that bodies use. SPEC 00 rule 1, 11 §1
namespace code {
constexpr int32_t kInvalidParam = 100000;
constexpr int32_t kUninitialized = 100001;
constexpr int32_t kRepeatInitialize = 100002;
constexpr int32_t kInvalidFile = 100003;
constexpr int32_t kInvalidFileSize = 100005;
constexpr int32_t kParseFile = 100006;
constexpr int32_t kRepeatFinalize = 100037;
constexpr int32_t kRtParam = 107000;
constexpr int32_t kDeviceId = 107001;
constexpr int32_t kContextNull = 107002;
constexpr int32_t kStreamContext = 107003;
constexpr int32_t kStreamModel = 107005;
constexpr int32_t kTimestampInvalid = 107006;
constexpr int32_t kTimestampReversal = 107007;
constexpr int32_t kAlignment = 107008;
constexpr int32_t kStreamSubscribe = 107011;
constexpr int32_t kThreadSubscribe = 107012;
constexpr int32_t kGroupNotCreated = 107014;
constexpr int32_t kNoCallbackThread = 107015;
constexpr int32_t kHandle = 107017;
constexpr int32_t kAbortTimeout = 107019;
constexpr int32_t kDeviceTaskAbort = 107022;
constexpr int32_t kStreamAbort = 107023;
constexpr int32_t kNotSupported = 207000;
constexpr int32_t kNoMemory = 207001;
constexpr int32_t kNoDevice = 207004;
constexpr int32_t kResource = 207005;
constexpr int32_t kNoEvent = 207007;
constexpr int32_t kNoStream = 207008;
constexpr int32_t kNoNotify = 207009;
constexpr int32_t kOverLimit = 207012;
constexpr int32_t kInternal = 507000;
constexpr int32_t kEventNotComplete = 507006;
constexpr int32_t kContextRelease = 507007;
constexpr int32_t kReportTimeout = 507012;
constexpr int32_t kStreamTimeout = 507046;
constexpr int32_t kEventTimeout = 507047;
constexpr int32_t kDriver = 507899;
}  // namespace code

// A finding about a running call; reported by Send().
class [[nodiscard]] Notice {
 public:
  [[gnu::cold]] Notice(const Call& call, check::FindingId id);

  __attribute__((format(printf, 2, 3))) Notice& Say(const char* format, ...);
  Notice& Rule(const char* rule);
  __attribute__((format(printf, 2, 3))) Notice& Fix(const char* format, ...);
  Notice& As(check::Severity severity);
  Notice& On(int device, int stream = -1);
  Notice& With(const char* role, const runtime::Moment& moment, int device = -1, int stream = -1);
  [[gnu::cold]] void Send();

 protected:
  const Call& call_;
  check::Finding finding_;
};

// A finding that goes with a refusal.
class [[nodiscard]] Refusal : private Notice {
 public:
  [[gnu::cold]] Refusal(const Call& call, int32_t code, check::FindingId id)
      : Notice(call, id), code_(code) {}

  __attribute__((format(printf, 2, 3))) Refusal& Say(const char* format, ...);
  Refusal& Rule(const char* rule) { return Notice::Rule(rule), *this; }
  __attribute__((format(printf, 2, 3))) Refusal& Fix(const char* format, ...);
  Refusal& As(check::Severity severity) { return Notice::As(severity), *this; }
  Refusal& On(int device, int stream = -1) { return Notice::On(device, stream), *this; }
  Refusal& With(const char* role, const runtime::Moment& moment, int device = -1, int stream = -1) {
    return Notice::With(role, moment, device, stream), *this;
  }
  // Not stored as the thread's last error nor in its messages (SPEC 11 §2: the benign codes).
  Refusal& Benign() { return benign_ = true, *this; }
  // Not a finding at all: an ordinary answer such as an expired wait.
  Refusal& Plain() { return plain_ = true, *this; }
  [[gnu::cold]] Status End();

 private:
  int32_t code_;
  bool benign_ = false;
  bool plain_ = false;
};

}  // namespace belay::abi
