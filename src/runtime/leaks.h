// What the program made and never gave back: the finding `leak`, one for each kind and creation site.
//
// Threading: a value of one thread. Allocates, so not for signal handlers.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "check/reporter.h"
#include "memory/allocation.h"
#include "memory/host_memory.h"
#include "runtime/objects.h"

namespace belay::runtime {

class LeakReport {
 public:
  enum class Kind : uint8_t {
    kDeviceMemory,
    kPinnedMemory,
    kRegistration,
    kContext,
    kStream,
    kEvent,
    kNotify,
    kCountNotify,
  };

  // `device`: user id; -1 = of the host.
  void Add(Kind kind, const Moment& created, int device, uint64_t bytes = 0);

  // `ended`: the call that takes the objects away, with its role in the finding; empty when the process ends.
  struct Ended {
    const char* role = nullptr;
    Moment by;
  };
  void Send(check::Reporter& reporter, const Ended& ended) const;

 private:
  struct Group {
    Moment first;
    std::set<int> devices;
    uint64_t objects = 0, bytes = 0;
  };
  static check::Finding FindingOf(Kind kind, const Group& group, const Ended& ended);

  // By kind and site, or function where the site is unknown.
  std::map<std::pair<Kind, uint64_t>, Group> groups_;
};

// Where a block of device or pinned memory comes from.
Moment AllocatedAt(const memory::Allocation& block);
// Where a range of host memory was registered.
Moment RegisteredAt(const memory::HostMemory::Registration& range);

}  // namespace belay::runtime
