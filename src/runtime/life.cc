// Initialising and finalising, and what the configuration of aclInit governs: SPEC 10 §§1, 2 and 4.3, 11
// §3.1.
#include <vector>

#include "runtime/runtime.h"

namespace belay::runtime {

void Runtime::NoteFirstCall(const Moment& by) {
  uint32_t none = 0;
  if (first_call_state_.load(std::memory_order_relaxed) != 0 ||
      !first_call_state_.compare_exchange_strong(none, 1, std::memory_order_relaxed)) {
    return;
  }
  first_call_ = by;
  first_call_state_.store(kFirstCallKnown, std::memory_order_release);
}

Runtime::InitResult Runtime::Init(const InitConfig& config) {
  MutexLock lock(life_);
  if (references_ != 0) {
    // SPEC 10 §1: the count grows from 8.5 on although the code says "again".
    if (machine_->cann() >= facts::Cann::k85) ++references_;
    return InitResult::kRepeated;
  }
  references_ = 1;
  default_device_ = config.default_device;
  process_messages_.store(config.process_messages, std::memory_order_relaxed);
  g_mode.fetch_and(~static_cast<uint32_t>(kFinalised | kStrict), std::memory_order_release);
  return InitResult::kFirst;
}

void Runtime::UndoInit(const Moment& by) {
  bool second_life;
  {
    MutexLock lock(life_);
    second_life = was_finalised_;
  }
  if (second_life) CloseEverything(by);
  MutexLock lock(life_);
  references_ = 0;
  default_device_.reset();
  process_messages_.store(false, std::memory_order_relaxed);
  if (second_life) g_mode.fetch_or(kFinalised, std::memory_order_release);
  if (!second_life && machine_->quirks().strict_init) g_mode.fetch_or(kStrict, std::memory_order_release);
}

bool Runtime::WouldFinalize(bool all_references) const {
  MutexLock lock(life_);
  return references_ != 0 && (all_references || references_ == 1);
}

std::optional<int64_t> Runtime::default_device() const {
  MutexLock lock(life_);
  return default_device_;
}

Runtime::FinalizeResult Runtime::Finalize(bool all_references, const Moment& by, uint64_t* references_left) {
  {
    MutexLock lock(life_);
    *references_left = 0;
    if (references_ == 0) {
      return was_finalised_ ? FinalizeResult::kAlreadyFinalised : FinalizeResult::kNeverInitialised;
    }
    references_ = all_references ? 0 : references_ - 1;
    *references_left = references_;
    if (references_ != 0) return FinalizeResult::kStillReferenced;
    default_device_.reset();
  }
  CloseEverything(by);
  MutexLock lock(life_);
  was_finalised_ = true;
  finalised_ = by;
  if (references_ == 0) g_mode.fetch_or(kFinalised, std::memory_order_release);
  return FinalizeResult::kDone;
}

void Runtime::CloseEverything(const Moment& by) {
  // SPEC 10 §2.3: every open device is closed as a forced reset would close it, then host memory goes.
  for (Device& device : devices_) WaitFor(StreamsOf(device));
  ReportLeaks({"finalised", by});
  for (Device& device : devices_) {
    if (device.open()) CloseDevice(device, by);
    memory_->books().ClearPeers(device.logical);
  }
  memory_->host().UnregisterAll(-1);
  std::vector<memory::Allocation*> pinned;
  memory_->host().ForEachLive([&](memory::Allocation& allocation) { pinned.push_back(&allocation); });
  for (memory::Allocation* allocation : pinned) memory_->host().Free(allocation, by.site, by.thread);
  MutexLock lock(objects_);
  default_counted_ = false;
}

bool Runtime::initialised() const {
  MutexLock lock(life_);
  return references_ != 0;
}

Moment Runtime::finalised() const {
  MutexLock lock(life_);
  return finalised_;
}

Runtime::OpenResult Runtime::BindDefault(Device& device, ThreadState& thread, const Moment& by) {
  MutexLock lock(objects_);
  if (device.primary == nullptr) {
    Context* primary = MakeContext(device, true, by);
    if (primary == nullptr) return OpenResult::kNoStream;
    device.primary = primary;
  }
  if (!default_counted_ || device.set_count == 0) ++device.set_count;
  default_counted_ = true;
  thread.Bind(device.primary, by);
  return OpenResult::kOpen;
}

void Runtime::AddMessage(ThreadState& thread, int32_t code, const check::Finding& finding) {
  if (!process_messages_.load(std::memory_order_relaxed)) return thread.errors.Add(code, finding);
  MutexLock lock(messages_);
  shared_messages_.Add(code, finding);
}

const char* Runtime::TakeMessages(ThreadState& thread) {
  if (!process_messages_.load(std::memory_order_relaxed)) return thread.errors.Take(machine_->cann());
  MutexLock lock(messages_);
  return shared_messages_.Take(machine_->cann());
}

}  // namespace belay::runtime
