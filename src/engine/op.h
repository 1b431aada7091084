// One task of a stream: what it will touch, who submitted it, and nothing else.
//
// Guarantees: two cache lines, so that a million queued tasks stay small; its blocks are pinned while it
// exists. Threading: written by the submitter, then owned by whoever runs the stream.
#pragma once

#include <cstdint>

#include "base/site.h"
#include "engine/copy_shape.h"

namespace belay::memory {
struct Allocation;
class DeviceMemory;
}  // namespace belay::memory

namespace belay::engine {

class EventRecord;

enum class OpKind : uint8_t { kCopy, kFill, kRecord, kWait };

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

struct Op {
  OpKind kind = OpKind::kCopy;
  bool owns_source = false;   // the source is a staging buffer: given back when the op is done
  uint32_t thread = 0;        // of the submission
  uint32_t task = 0;          // number in its stream
  Site site;                  // of the submission
  const char* api = nullptr;  // static text
  union {
    CopyTask copy;
    FillTask fill;
    EventRecord* record;  // kRecord: completes it; kWait: waits for it; holds a reference
  };

  Op() : record(nullptr) {}
};

static_assert(sizeof(Op) <= 128);

}  // namespace belay::engine
