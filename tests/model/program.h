// A program: what it uses, and its calls in an order in which they may return.
//
// The calls of one thread are made in this order; those of different threads overlap wherever no edge orders
// them. A program is text too, so that a failing one can be kept, cut down and run again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clock.h"

namespace model {

enum class Kind : uint8_t {
  // Host threads. Thread 0 starts and joins the others; a signal is posted once and awaited by any thread.
  kFork,
  kJoin,
  kSignal,
  kAwait,
  // Streams
  kCreateStream,
  kDestroyStream,
  kSyncStream,
  kPollStream,
  kQueryStream,
  kSyncDevice,
  // Bytes
  kCopy,
  kCopyAsync,
  kCopy2d,
  kCopy2dAsync,
  kFill,
  kFillAsync,
  kHostWrite,
  kRead,
  kMalloc,
  kFree,
  // Events
  kCreateEvent,
  kDestroyEvent,
  kRecord,
  kWait,
  kReset,
  kQueryEvent,
  kQueryWaits,
  kSyncEvent,
  kPollEvent,
  // Notifies and values
  kRecordNotify,
  kWaitNotify,
  kValueWrite,
  kValueWait,
  // Host code in streams
  kHostFunc,
  kSubscribe,
  kUnsubscribe,
  kCallback,
  // Books
  kPeerOpen,
  kPeerClose,
  kPeerStatus,
  kStreamsLeft,
  kEventsLeft,
  kMemoryLeft,
  // Control
  kHold,
  kRelease,
  kLand,
  kPending,
  kCount
};

// What the fields mean depends on the kind; program.cc lists which kind has which.
struct Call {
  Kind kind = Kind::kCount;
  int64_t thread = 0;
  int64_t device = 0;  // current when the call is made
  int64_t stream = -1;
  int64_t object = -1;  // event, notify, signal, device or thread
  int64_t dst = -1, dst_at = 0, dst_pitch = 0;
  int64_t src = -1, src_at = 0, src_pitch = 0;
  int64_t width = 0, height = 1;
  int64_t room = 0;  // capacity of the target, as passed
  int64_t value = 0;
  int64_t flag = 0;  // copy kind, compare operation, blocking
};

constexpr int kPinned = -1, kPageable = -2;

struct BufferSpec {
  int64_t place = 0;  // a device, kPinned or kPageable
  int64_t size = 0;
  int64_t words = 0;  // 1: used by value writes and waits alone
};

enum class EventKind : uint8_t { kPlain, kEx, kFlag };

struct EventSpec {
  int64_t device = 0;
  EventKind kind = EventKind::kPlain;
};

struct Program {
  uint64_t seed = 0;
  int devices = 1;
  std::vector<BufferSpec> buffers;
  std::vector<int64_t> streams;  // the device of each; the first `devices` are the default streams
  std::vector<EventSpec> events;
  std::vector<int64_t> notifies;  // the device of each
  int signals = 0;
  std::vector<Call> calls;
};

// The byte that a buffer is filled with when it is made.
inline uint8_t FirstByte(const Program& program, size_t buffer) {
  return program.buffers[buffer].words != 0 ? uint8_t{0} : static_cast<uint8_t>(0x10 + buffer);
}

const char* KindName(Kind kind);
std::string ToText(const Call& call);
std::string ToText(const Program& program);
std::optional<Program> Parse(const std::string& text);

}  // namespace model
