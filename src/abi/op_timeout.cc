#include "abi/op_timeout.h"

#include <algorithm>
#include <atomic>

#include "abi/call.h"
#include "belay/abi/bodies.h"

namespace belay::abi {
namespace {
using facts::Family;

constexpr uint64_t kIntervalUs = 1'000'000;  // SPEC 20 §8

std::atomic<uint32_t> g_wait_seconds{0};
std::atomic<uint64_t> g_execute_us{0};  // 0: never set

uint64_t StandardUs(const Call& call) {
  switch (call.machine().family()) {
    case Family::kInf:
      return 547'000'000;
    case Family::kTrn:
      return 68'000'000;
    default:
      return 1'091'000'000;
  }
}

uint64_t MostUs(const Call& call) {
  switch (call.machine().family()) {
    case Family::kInf:
      return 547'000'000;
    case Family::kTrn:
      return 2'176'000'000;
    default:
      return 1'091'000'000;
  }
}

// Clamps, and rounds up to the interval; 0 is the maximum.
uint64_t SetExecuteUs(const Call& call, uint64_t us) {
  uint64_t most = MostUs(call);
  if (us == 0 || us > most) us = most;
  us = (us + kIntervalUs - 1) / kIntervalUs * kIntervalUs;
  g_execute_us.store(us, std::memory_order_relaxed);
  return us;
}

Status GetInterval(uint64_t* interval) {
  *interval = kIntervalUs;
  return Status();
}
}  // namespace

int64_t OpWaitTimeoutNs() {
  return int64_t{g_wait_seconds.load(std::memory_order_relaxed)} * 1'000'000'000;
}

namespace body {
Status aclrtSetOpWaitTimeout(Call&, uint32_t timeout) {
  g_wait_seconds.store(timeout, std::memory_order_relaxed);
  return Status();
}

Status aclrtSetOpExecuteTimeOut(Call& call, uint32_t timeout) {
  SetExecuteUs(call, uint64_t{timeout} * 1'000'000);
  return Status();
}

Status aclrtSetOpExecuteTimeOutV2(Call& call, uint64_t timeout, uint64_t* actualTimeout) {
  *actualTimeout = SetExecuteUs(call, timeout);
  return Status();
}

Status aclrtGetOpExecuteTimeout(Call& call, uint32_t* const timeoutMs) {
  uint64_t us = g_execute_us.load(std::memory_order_relaxed);
  *timeoutMs = static_cast<uint32_t>((us != 0 ? us : StandardUs(call)) / 1000);
  return Status();
}

Status aclrtGetOpTimeOutInterval(Call&, uint64_t* interval) {
  return GetInterval(interval);
}
Status aclrtGetOpTimeoutInterval(Call&, uint64_t* interval) {
  return GetInterval(interval);
}
}  // namespace body

}  // namespace belay::abi
