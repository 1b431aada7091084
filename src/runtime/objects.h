// The things that handles name, and the devices that own them.
//
//   process -> Device -> Context (primary or explicit) -> StreamObject
//                     -> EventObject, device memory
//
// Threading: members are written under Runtime's object lock and stay as they are while the handle is live,
// but for the lists. Lifetime: the storage is never freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

#include "base/site.h"

namespace belay::engine {
class Event;
class Stream;
}  // namespace belay::engine

namespace belay::runtime {

struct Device;

// A moment in the program, for messages.
struct Moment {
  const char* api = nullptr;
  uint32_t thread = 0;
  Site site;
};

struct StreamObject {
  void* handle = nullptr;
  engine::Stream* stream = nullptr;
  struct Context* context = nullptr;
  Device* device = nullptr;
  int32_t id = -1;
  uint32_t priority = 0;
  uint32_t flags = 0;
  bool is_default = false;
  Moment created, destroyed;
};

struct EventObject {
  void* handle = nullptr;
  engine::Event* event = nullptr;
  Device* device = nullptr;
  Moment created, destroyed;
};

struct Context {
  void* handle = nullptr;
  Device* device = nullptr;
  bool is_primary = false;
  std::atomic<uint32_t> life{0};  // odd while alive; a thread's binding remembers the number
  StreamObject* default_stream = nullptr;
  std::vector<StreamObject*> streams;  // the default one included; object lock
  Moment created, destroyed;
};

struct Device {
  int user = -1;     // the id that the program uses
  int logical = -1;  // the index into books, memory and topology
  uint64_t set_count = 0;
  Context* primary = nullptr;
  std::vector<Context*> contexts;  // the primary one included; object lock
  std::set<int32_t> free_stream_ids;
  int32_t next_stream_id = 0;
  Moment opened, released;

  bool open() const { return !contexts.empty(); }
};

}  // namespace belay::runtime
