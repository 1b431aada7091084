// All memory of the emulated node: the address plan, the books, host RAM, and the memory of each device, made
// when the device is first opened.
//
// Threading: Device and FindDevice are lock-free once a device is open.
#pragma once

#include <atomic>
#include <memory>

#include "base/thread_annotations.h"
#include "memory/address_space.h"
#include "memory/books.h"
#include "memory/device_memory.h"
#include "memory/host_memory.h"
#include "memory/physical_memory.h"

namespace belay::memory {

class NodeMemory {
 public:
  struct Config {
    Books::Limits limits;
    uint64_t host_budget_bytes = 0;
    uint64_t host_pin_limit = 0;
    bool rest_freed = false;
    bool poison = false;  // unwritten device bytes do not read as zero
  };

  // Null when the address space does not even hold small shares.
  static std::unique_ptr<NodeMemory> Create(const Config& config);
  ~NodeMemory();

  const AddressSpace& space() const { return space_; }
  Books& books() { return books_; }
  HostMemory& host() { return *host_; }
  PhysicalMemory& physical() { return physical_; }

  // The memory of a device, made now if need be.
  DeviceMemory& Open(int device) BELAY_EXCLUDES(mutex_);
  // Null when the device was never opened.
  DeviceMemory* Find(int device) const { return devices_[device].load(std::memory_order_acquire); }

  // What an address names. `block` is null where the runtime knows none.
  struct Place {
    AddressSpace::Region region = AddressSpace::Region::kHost;
    int device = -1;                 // logical id of the owner, for device memory; -1 = host
    DeviceMemory* memory = nullptr;  // of the owner; null when that device was never opened
    Allocation* block = nullptr;     // the record around the address, live or not
    uint64_t at = 0;                 // distance from the start of the block
    uint8_t* bytes = nullptr;        // where the engine finds them

    bool on_device() const { return region == AddressSpace::Region::kDevice; }
    // Whether `extent` bytes from here on, 0 allowed, lie in one live block. Host memory that is not the
    // runtime's is taken as it is.
    bool Holds(uint64_t extent) const {
      if (region == AddressSpace::Region::kHost) return true;
      return block != nullptr && block->live() && at <= block->extent && extent <= block->extent - at;
    }
  };
  [[gnu::always_inline]] Place Locate(uintptr_t address) const {
    Place place;
    place.region = space_.Classify(address);
    place.bytes = reinterpret_cast<uint8_t*>(address);
    if (place.region == AddressSpace::Region::kDevice) {
      place.device = space_.DeviceOf(address);
      place.memory = Find(place.device);
      if (place.memory != nullptr) {
        place.block = place.memory->Find(address);
        place.bytes = place.memory->EngineAddress(address);
        if (place.block != nullptr) place.at = address - place.memory->UserAddress(*place.block);
      }
    } else if (place.region == AddressSpace::Region::kPinned) {
      place.block = host_->Find(address);
      if (place.block != nullptr) place.at = address - host_->Address(*place.block);
    }
    return place;
  }

 private:
  explicit NodeMemory(const Config& config);

  AddressSpace space_;
  Books books_;
  PhysicalMemory physical_;
  const bool rest_freed_, poison_;
  std::unique_ptr<HostMemory> host_;
  Mutex mutex_;
  bool opened_any_ BELAY_GUARDED_BY(mutex_) = false;
  std::unique_ptr<std::atomic<DeviceMemory*>[]> devices_;
};

}  // namespace belay::memory
