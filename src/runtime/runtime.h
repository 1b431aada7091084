// The process's one runtime: owns the machine, the memory, the engine, the reporter and every object, and
// keeps their life cycles (SPEC 10 §§2, 4, 6, 7).
//
// It wires; what a lower room can decide is decided there. Refusals and their words are the business of abi/.
// Threading: everything may be called from any thread. Creating and destroying takes the object lock; waiting
// for tasks never happens under it. Lifetime: made at the first call and leaked on purpose, so that calls
// from static destructors find it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_annotations.h"
#include "check/reporter.h"
#include "engine/engine.h"
#include "machine/machine.h"
#include "machine/visibility.h"
#include "memory/node_memory.h"
#include "options/options.h"
#include "runtime/handle_table.h"
#include "runtime/host_watch.h"
#include "runtime/init_config.h"
#include "runtime/leaks.h"
#include "runtime/objects.h"
#include "runtime/order_watch.h"
#include "runtime/task_observer.h"
#include "runtime/thread_state.h"
#include "trace/api_log.h"

namespace belay::runtime {

// Why a call cannot take the short way; bits of `g_mode`. 0 = nothing special.
enum Mode : uint32_t {
  kNotStarted = 1,
  kForked = 2,     // the child of a process that had opened a device (SPEC 10 §7.4)
  kFinalised = 4,  // after the last finalise, until the next initialise
  kLogging = 8,    // the option `log`
  kStrict = 16,    // the quirk strict_init, while the process is not initialised (SPEC 10 §2.4)
  kCallbacks =
      32,  // the program gave functions of its own, in which not every call is allowed (SPEC 21 §3.1)
};
extern std::atomic<uint32_t> g_mode;

class Runtime {
 public:
  // The runtime, made now if need be. Wrong options end the process with their message and exit code 2.
  static Runtime& Start();
  // Null before the first call.
  static Runtime* Get() { return instance_.load(std::memory_order_acquire); }

  const options::Options& options() const { return options_; }
  const machine::Machine& machine() const { return *machine_; }
  const machine::Visibility& visibility() const { return visibility_; }
  memory::NodeMemory& memory() { return *memory_; }
  engine::Engine& engine() { return *engine_; }
  check::Reporter& reporter() { return *reporter_; }
  // Whether any of the three `host-...` findings is looked for.
  bool guards_host() const { return guards_host_; }
  TaskObserver& tasks() { return *tasks_; }
  // Null unless its findings are wanted.
  OrderWatch* order_watch() { return order_.get(); }
  check::OrderChecker* order() { return order_ != nullptr ? &order_->checker() : nullptr; }
  HostWatch* host_watch() { return host_watch_.get(); }  // null: nobody wants what it finds
  trace::ApiLog* log() { return log_.get(); }

  int device_count() const { return static_cast<int>(devices_.size()); }  // visible to the program
  Device& device(int user) { return devices_[static_cast<size_t>(user)]; }
  // The user id of a logical device; -1 when it is masked.
  int UserId(int logical) const { return user_of_logical_[static_cast<size_t>(logical)]; }

  // Life cycle (SPEC 10 §1, §2).
  enum class InitResult : uint8_t { kFirst, kRepeated };
  InitResult Init(const InitConfig& config);
  // A callback refused: as if Init had not been called. What the callbacks made in a second life goes.
  void UndoInit(const Moment& by);
  // Whether Finalize would now end the runtime.
  bool WouldFinalize(bool all_references) const;
  enum class FinalizeResult : uint8_t { kDone, kStillReferenced, kNeverInitialised, kAlreadyFinalised };
  FinalizeResult Finalize(bool all_references, const Moment& by, uint64_t* references_left);
  Moment finalised() const;
  bool initialised() const;

  // SPEC 10 §4.3: the user id that threads without a context get; nothing when none is configured.
  std::optional<int64_t> default_device() const;
  // Like SetDevice, but only the first call of a life counts.
  enum class OpenResult : uint8_t { kOpen, kNoStream };
  OpenResult BindDefault(Device& device, ThreadState& thread, const Moment& by);

  // The recent messages: of the thread, or of the process when aclInit's file says so (SPEC 11 §3.1).
  void AddMessage(ThreadState& thread, int32_t code, const check::Finding& finding);
  const char* TakeMessages(ThreadState& thread);

  // Devices and contexts (SPEC 10 §4, §6). `kNoStream`: no stream is left for the default stream.
  OpenResult SetDevice(Device& device, ThreadState& thread, const Moment& by);
  enum class ResetResult : uint8_t { kReleased, kCounted, kNotSet };
  // Explicit objects that a reset took away.
  struct Leftovers {
    size_t streams = 0, contexts = 0;
    Moment example;
  };
  ResetResult ResetDevice(Device& device, bool force, const Moment& by, Leftovers* left);
  Context* CreateContext(Device& device, const Moment& by);  // null: no stream left
  void DestroyContext(Context& context, const Moment& by);
  Context* FindContext(const void* handle) const { return contexts_.Find(handle); }
  const Context* FindDeadContext(const void* handle) const { return contexts_.FindDead(handle); }
  bool PrimaryActive(const Device& device);

  // Streams.
  StreamObject* CreateStream(Context& context, uint32_t priority, uint32_t flags,
                             const Moment& by);  // null: none left
  void DestroyStream(StreamObject& stream, const Moment& by);
  // Without waiting for its tasks: they are dropped.
  void DestroyStreamForce(StreamObject& stream, const Moment& by);
  StreamObject* FindStream(const void* handle) const { return streams_.Find(handle); }
  const StreamObject* FindDeadStream(const void* handle) const { return streams_.FindDead(handle); }
  // The streams of a context as they are now.
  std::vector<StreamObject*> StreamsOf(Context& context);
  std::vector<StreamObject*> StreamsOf(Device& device);
  std::vector<StreamObject*> AllStreams();

  // Events.
  EventObject* CreateEvent(engine::Event::Family family, uint32_t flags, Device& device,
                           const engine::Event::Traits& traits, const Moment& by);
  void DestroyEvent(EventObject& event, const Moment& by);
  EventObject* FindEvent(const void* handle) const { return events_.Find(handle); }
  const EventObject* FindDeadEvent(const void* handle) const { return events_.FindDead(handle); }

  // Notifies and count notifies. Null: no number is left.
  NotifyObject* CreateNotify(Device& device, bool counts, const Moment& by);
  void DestroyNotify(NotifyObject& notify, bool counts, const Moment& by);
  NotifyObject* FindNotify(const void* handle, bool counts) const {
    return counts ? counters_.Find(handle) : notifies_.Find(handle);
  }
  const NotifyObject* FindDeadNotify(const void* handle, bool counts) const {
    return counts ? counters_.FindDead(handle) : notifies_.FindDead(handle);
  }

  // The finding `leak`, for everything that lives now: when the runtime is finalised and when the process
  // ends.
  void ReportLeaks(const LeakReport::Ended& ended);

  // Faults (SPEC 21 §§6.3, 7).
  void BreakDevice(const engine::Failure& failure);
  engine::Failure FaultOf(Device& device);
  void MendDevice(Device& device);
  // Drops every task of the device and clears what earlier failures stopped. False at the deadline.
  bool AbortTasks(Device& device, int64_t deadline_ns);
  // Whether a reset now releases the device.
  bool WouldRelease(Device& device, bool force);

  // The latest binding by any thread, for messages about threads that bound nothing.
  struct LastBinding {
    int device = -1;
    Moment by;
  };
  void NoteBinding(int device, const Moment& by);
  LastBinding last_binding();

  // The first call that initialised or opened anything; empty before. Takes no lock: a forked child asks.
  Moment first_call() const {
    return first_call_state_.load(std::memory_order_acquire) == kFirstCallKnown ? first_call_ : Moment();
  }
  void NoteFirstCall(const Moment& by);

 private:
  Runtime() = default;
  void Build();
  void CloseEverything(const Moment& by);
  StreamObject* MakeStream(Context& context, uint32_t priority, uint32_t flags, bool is_default,
                           const Moment& by) BELAY_REQUIRES(objects_);
  Context* MakeContext(Device& device, bool primary, const Moment& by) BELAY_REQUIRES(objects_);
  void UnmakeStream(StreamObject& stream, const Moment& by) BELAY_REQUIRES(objects_);
  void UnmakeContext(Context& context, const Moment& by) BELAY_REQUIRES(objects_);
  void WaitFor(const std::vector<StreamObject*>& streams);
  // `role` of `by` in what is said of leaks.
  void Release(Device& device, const Moment& by, const char* role);
  void CloseDevice(Device& device, const Moment& by);
  void FindLeakedMemory(Device& device, LeakReport* leaks);
  void FindLeakedObjects(LeakReport* leaks);
  static void AfterForkInChild();

  static std::atomic<Runtime*> instance_;

  options::Options options_;
  std::unique_ptr<machine::Machine> machine_;
  machine::Visibility visibility_;
  std::unique_ptr<memory::NodeMemory> memory_;
  std::unique_ptr<OrderWatch> order_;
  std::unique_ptr<HostWatch> host_watch_;
  std::unique_ptr<TaskObserver> tasks_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<check::Reporter> reporter_;
  bool guards_host_ = false;
  std::unique_ptr<trace::ApiLog> log_;
  std::vector<Device> devices_;
  std::vector<int> user_of_logical_;
  static constexpr uint32_t kFirstCallKnown = 2;
  std::atomic<uint32_t> first_call_state_{0};  // 0 nothing, 1 being written, kFirstCallKnown
  Moment first_call_;

  HandleTable<Context, 0xC7> contexts_;
  HandleTable<StreamObject, 0x57> streams_;
  HandleTable<EventObject, 0xE7> events_;
  HandleTable<NotifyObject, 0x47> notifies_;
  HandleTable<NotifyObject, 0xCE> counters_;
  Mutex objects_;

  mutable Mutex life_;
  uint64_t references_ BELAY_GUARDED_BY(life_) = 0;
  bool was_finalised_ BELAY_GUARDED_BY(life_) = false;
  Moment finalised_ BELAY_GUARDED_BY(life_);
  std::optional<int64_t> default_device_ BELAY_GUARDED_BY(life_);
  bool default_counted_ BELAY_GUARDED_BY(objects_) = false;
  std::atomic<bool> process_messages_{false};
  Mutex messages_;
  ErrorLog shared_messages_ BELAY_GUARDED_BY(messages_);
  Mutex binding_;
  LastBinding last_binding_ BELAY_GUARDED_BY(binding_);
};

}  // namespace belay::runtime
