// One task of a stream: what it will touch, who submitted it, and nothing else.
//
// Guarantees: two cache lines, so that a million queued tasks stay small; its blocks are pinned while it
// exists. Threading: written by the submitter, then owned by whoever runs the stream.
#pragma once

#include <cstdint>

#include "base/site.h"
#include "engine/copy_shape.h"
#include "engine/reduce.h"
#include "engine/signal.h"

namespace belay::memory {
struct Allocation;
class DeviceMemory;
}  // namespace belay::memory

namespace belay::engine {

class Event;
class EventRecord;

enum class OpKind : uint8_t {
  kCopy,
  kFill,
  kReduce,      // combines device memory with device memory, element by element
  kRecord,      // completes an event record, and sets the bit of a flag event
  kWait,        // for an event record
  kReset,       // an event is as if it had never been recorded
  kSignal,      // changes a signal
  kAwait,       // for a signal
  kValueWrite,  // stores a word of device memory
  kValueWait,   // for a word of device memory
  kPrefetch,    // asks for memory in the device's cache, which Belay has none of: no effect
  kHostFunc,    // a function of the program on a thread of the library
  kCallback,    // a function of the program on a thread of the program
};

// What the runtime knows about one end of a task.
//   memory and block   device memory
//   block alone        a pinned block
//   neither            the program's own memory
struct OpSide {
  memory::DeviceMemory* memory = nullptr;
  memory::Allocation* block = nullptr;
};

struct CopyTask {
  CopyShape shape;
  OpSide dst, src;
  int16_t executor;  // the device that does the work
};

struct FillTask {
  uint8_t* at;
  uint64_t bytes;
  OpSide dst;
  uint8_t value;
};

struct ReduceTask {
  uint8_t* dst;
  const uint8_t* src;
  uint64_t bytes;
  OpSide dst_side, src_side;
  int16_t executor;
  ReduceKind kind;
  ElementType type;
};

struct WaitTask {
  EventRecord* record;  // holds a reference; null = passes at once
  int64_t timeout_ns;   // 0 = none; counted from when the task is at the head of its stream
  bool holds_id;        // EventRecord::HoldId
};

struct ResetTask {
  Event* event;  // holds a reference
  EventRecord*
      record;  // the latest one when it was submitted, which it takes back; holds a reference; may be null
};

struct SignalTask {
  Signal* signal;  // holds a reference
  Signal::Change change;
  uint32_t value;
};

struct AwaitTask {
  Signal* signal;  // holds a reference
  Signal::Condition condition;
  bool clear;
  uint32_t value;
  int64_t timeout_ns;
};

// SPEC 34 §5
enum class WordCondition : uint8_t { kGreaterOrEqual, kEqual, kAnd, kNor };
constexpr bool Holds(WordCondition condition, uint64_t word, uint64_t value) {
  switch (condition) {
    case WordCondition::kGreaterOrEqual:
      return static_cast<int64_t>(word - value) >= 0;
    case WordCondition::kEqual:
      return word == value;
    case WordCondition::kAnd:
      return (word & value) != 0;
    case WordCondition::kNor:
      return ~(word | value) != 0;
  }
  return false;
}
struct ValueTask {
  uint8_t* at;  // 8-byte aligned
  OpSide side;
  uint64_t value;
  WordCondition condition;  // of a wait
  bool polls;               // host memory, which the program writes unseen: looked at every millisecond
};

// SPEC 34 §4
struct PrefetchTask {
  OpSide side;  // of device memory
};

struct HostTask {
  void (*function)(void*);
  void* argument;
  bool blocks;  // later tasks wait until the function returned
};

struct Op {
  OpKind kind = OpKind::kCopy;
  bool owns_source = false;   // the source is a staging buffer: given back when the op is done
  uint32_t thread = 0;        // of the submission
  uint32_t task = 0;          // number in its stream
  int32_t code = 0;           // not 0: it fails with this code instead of taking effect
  Site site;                  // of the submission
  const char* api = nullptr;  // static text
  union {
    CopyTask copy;
    FillTask fill;
    ReduceTask reduce;
    EventRecord* record;  // kRecord; holds a reference
    WaitTask wait;
    ResetTask reset;
    SignalTask signal;
    AwaitTask await;
    ValueTask value;
    PrefetchTask prefetch;
    HostTask host;
  };

  Op() : record(nullptr) {}
};

static_assert(sizeof(Op) <= 128);

}  // namespace belay::engine
