#include "memory/node_memory.h"

namespace belay::memory {

NodeMemory::NodeMemory(const Config& config)
    : books_(config.limits),
      physical_(config.host_budget_bytes),
      rest_freed_(config.rest_freed),
      poison_(config.poison),
      devices_(new std::atomic<DeviceMemory*>[static_cast<size_t>(config.limits.devices) + 1]()) {}

std::unique_ptr<NodeMemory> NodeMemory::Create(const Config& config) {
  std::unique_ptr<NodeMemory> memory(new NodeMemory(config));
  if (!memory->space_.Reserve(config.limits.devices, config.limits.capacity)) return nullptr;
  memory->host_ = std::make_unique<HostMemory>(memory->space_, config.rest_freed, config.host_pin_limit);
  return memory;
}

NodeMemory::~NodeMemory() {
  for (int device = 0; device < books_.limits().devices; ++device) delete Find(device);
}

DeviceMemory& NodeMemory::Open(int device) {
  if (DeviceMemory* memory = Find(device); memory != nullptr) return *memory;
  MutexLock lock(mutex_);
  if (DeviceMemory* memory = Find(device); memory != nullptr) return *memory;
  if (!opened_any_) space_.KeepEngineFromChildren();
  opened_any_ = true;
  auto* memory = new DeviceMemory(device, space_, books_, physical_, rest_freed_, poison_);
  devices_[device].store(memory, std::memory_order_release);
  return *memory;
}

}  // namespace belay::memory
