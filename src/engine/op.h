// One task of a stream: what it will touch, who submitted it, and nothing else.
//
// Guarantees: two cache lines, so that a million queued tasks stay small; its blocks are pinned while it exists.
// Threading: written by the submitter, then owned by whoever runs the stream.
#pragma once

#include <cstdint>

#include "base/site.h"
#include "engine/copy_shape.h"

namespace belay::memory {
struct Allocation;
}

namespace belay::engine {

class EventRecord;

enum class OpKind : uint8_t { kCopy, kFill, kRecord, kWait };

// Who owns one side of a copy.
struct OpSide {
  static constexpr int16_t kHost = -1;    // the program's own memory
  static constexpr int16_t kPinned = -2;  // a block of the runtime's host memory
  int16_t owner = kHost;                  // or a device
};

struct Op {
  OpKind kind = OpKind::kCopy;
  bool owns_source = false;   // the source is a staging buffer: given back when the op is done
  int16_t executor = 0;       // the device that does the work
  OpSide dst, src;
  uint32_t thread = 0;        // of the submission
  uint32_t task = 0;          // number in its stream
  Site site;                  // of the submission
  const char* api = nullptr;  // static text
  union {
    struct {
      CopyShape shape;
      memory::Allocation* dst_block;  // null for memory that the runtime does not know
      memory::Allocation* src_block;
    } copy;
    struct {
      uint8_t* dst;
      uint64_t bytes;
      memory::Allocation* block;
      uint8_t value;
    } fill;
    EventRecord* record;  // kRecord: completes it; kWait: waits for it; holds a reference
  };

  Op() : copy{} {}
};

static_assert(sizeof(Op) <= 128);

}  // namespace belay::engine
