#include "runtime/runtime.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "check/checks.h"
#include "engine/planted_fault.h"
#include "os/host_ram.h"
#include "os/thread.h"
#include "runtime/fault_watch.h"

namespace belay::runtime {

std::atomic<uint32_t> g_mode{kNotStarted};
std::atomic<Runtime*> Runtime::instance_{nullptr};

namespace {
constexpr uint32_t kPersistent = 4;                                  // ACL_STREAM_PERSISTENT
constexpr int32_t kStreamAbort = 107023, kDeviceTaskAbort = 107022;  // SPEC 21 §6.2

pthread_once_t g_start_once = PTHREAD_ONCE_INIT;

[[noreturn]] void RefuseToStart(const std::string& why) {
  // The program cannot know what its calls would mean, so it does not run.
  std::string text = "belay: error: " + why + "\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) {
  }
  _exit(2);
}

template <class T>
T OrRefuse(tl::expected<T, std::string> result) {
  if (!result) RefuseToStart(result.error());
  return std::move(*result);
}

std::vector<std::string> CommandLine() {
  std::vector<std::string> words;
  FILE* file = fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return words;
  std::string word;
  for (int c; (c = fgetc(file)) != EOF;) {
    if (c != 0) {
      word += static_cast<char>(c);
      continue;
    }
    words.push_back(std::move(word));
    word.clear();
  }
  fclose(file);
  return words;
}

check::ReporterConfig ReporterConfigOf(const options::Options& options, const machine::Machine& machine) {
  check::ReporterConfig config;
  config.checks = OrRefuse(check::ParseChecks(options.check));
  config.on_finding = static_cast<check::OnFinding>(options.on_finding);
  config.suppress_file = options.suppress;
  config.report_files = options.reports;
  config.quiet = options.quiet;
  config.color = static_cast<check::Color>(options.color);
  config.command = CommandLine();
  config.product = machine.product().name;
  config.cann = facts::CannName(machine.cann());
  config.devices = static_cast<uint32_t>(machine.device_count());
  config.run_path = getenv("BELAY_RUN");
  return config;
}
}  // namespace

Runtime& Runtime::Start() {
  pthread_once(&g_start_once, [] {
    auto* runtime = new Runtime;  // leaked on purpose
    runtime->Build();
    instance_.store(runtime, std::memory_order_release);
    if (runtime->log_ != nullptr) g_mode.fetch_or(kLogging, std::memory_order_relaxed);
    if (runtime->machine_->quirks().strict_init) g_mode.fetch_or(kStrict, std::memory_order_relaxed);
    g_mode.fetch_and(~static_cast<uint32_t>(kNotStarted), std::memory_order_release);
    pthread_atfork(nullptr, nullptr, AfterForkInChild);
  });
  return *Get();
}

void Runtime::Build() {
  options_ = OrRefuse(options::Load(options::FromEnvironment()));
  machine_ = std::make_unique<machine::Machine>(OrRefuse(machine::Machine::Build(options_)));
  reporter_ = OrRefuse(check::Reporter::Create(ReporterConfigOf(options_, *machine_)));
  for (auto id : {check::FindingId::kHostSourceChanged, check::FindingId::kHostTargetEarly,
                  check::FindingId::kHostBufferGone}) {
    guards_host_ = guards_host_ || reporter_->Wants(id);
  }
  if (!options_.log.empty()) log_ = OrRefuse(trace::ApiLog::Open(options_.log));

  visibility_ = machine::ParseVisibility(getenv("ASCEND_RT_VISIBLE_DEVICES"), machine_->device_count());
  user_of_logical_.assign(static_cast<size_t>(machine_->device_count()), -1);
  devices_ = std::vector<Device>(visibility_.logical.size());
  for (size_t user = 0; user < devices_.size(); ++user) {
    devices_[user].user = static_cast<int>(user);
    devices_[user].logical = visibility_.logical[user];
    user_of_logical_[static_cast<size_t>(devices_[user].logical)] = static_cast<int>(user);
    devices_[user].event_ids = std::make_unique<IdPool>(machine_->limits().events.value);
    devices_[user].notify_ids = std::make_unique<IdPool>(machine_->limits().notifies.value);
  }

  memory::NodeMemory::Config memory;
  memory.limits.devices = machine_->device_count();
  memory.limits.capacity = machine_->memory_bytes();
  memory.limits.p2p_window = machine_->p2p_window_bytes();
  memory.limits.streams = machine_->limits().streams.value;
  memory.limits.max_peers = machine_->limits().max_peers.value;
  memory.host_budget_bytes =
      options_.host_memory_bytes != 0 ? options_.host_memory_bytes : os::DefaultHostMemory();
  memory.host_pin_limit = machine_->quirks().host_pin_limit;
  memory.rest_freed = options_.check != "off";
  memory.poison = reporter_->Wants(check::FindingId::kUninitializedRead);
  memory_ = memory::NodeMemory::Create(memory);
  if (memory_ == nullptr) {
    RefuseToStart("no address space for " + std::to_string(machine_->device_count()) +
                  " devices: raise the limit on virtual memory (ulimit -v) or ask for fewer (--devices)");
  }

  engine::Engine::Config engine;
  if (options_.schedule == options::Schedule::kEager) engine.policy = engine::Policy::Eager();
  if (options_.schedule == options::Schedule::kOnWait) engine.policy = engine::Policy::OnWait();
  engine.workers = options_.workers >= 0 ? options_.workers : std::max(os::CoreCount() - 1, 1);
  engine.peer_lenient = machine_->quirks().peer_lenient;
  tasks_ = std::make_unique<TaskObserver>(*this, options_.stall_after_seconds);
  engine.observer = tasks_.get();
  if (HostWatch::Wanted(*reporter_)) {
    host_watch_ = std::make_unique<HostWatch>(*this);
    engine.guard = &host_watch_->guard();
  }
  // The watch guards what the order lets run.
  if (WantsOrder(*reporter_) || host_watch_ != nullptr) order_ = std::make_unique<OrderWatch>(*this);
  engine.watched = order_ != nullptr;
  engine_ = std::make_unique<engine::Engine>(engine, *memory_);
  if (host_watch_ != nullptr || reporter_->Wants(check::FindingId::kDevicePointerTouched)) WatchFaults(*this);
}

void Runtime::AfterForkInChild() {
  Runtime* runtime = Get();
  if (t_state != nullptr) {
    t_state->id = os::ThreadId();
    t_state->counters = runtime->reporter_->page().AcquireSlot();
  }
  bool used = false;
  for (const Device& device : runtime->devices_) used = used || device.open() || device.opened.api != nullptr;
  if (used) g_mode.fetch_or(kForked, std::memory_order_relaxed);
}

// --- Devices and contexts

Runtime::OpenResult Runtime::SetDevice(Device& device, ThreadState& thread, const Moment& by) {
  MutexLock lock(objects_);
  if (device.primary == nullptr) {
    Context* primary = MakeContext(device, true, by);
    if (primary == nullptr) return OpenResult::kNoStream;
    device.primary = primary;
  }
  ++device.set_count;
  thread.Bind(device.primary, by);
  return OpenResult::kOpen;
}

Context* Runtime::MakeContext(Device& device, bool primary, const Moment& by) {
  void* handle = nullptr;
  Context* context = contexts_.Add(&handle);
  if (context == nullptr) return nullptr;
  context->handle = handle;
  context->device = &device;
  context->is_primary = primary;
  context->created = by;
  context->destroyed = {};
  context->streams.clear();
  context->domain.stops_on_failure.store(false, std::memory_order_relaxed);
  engine_->Restart(context->domain);
  memory_->Open(device.logical);
  context->default_stream = MakeStream(*context, 0, 0, true, by);
  if (context->default_stream == nullptr) {
    contexts_.Remove(handle);
    return nullptr;
  }
  if (!device.open()) {
    device.opened = by;
    device.opened_ns = os::MonotonicNs();
  }
  device.contexts.push_back(context);
  reporter_->page().MarkDeviceOpened(device.logical);
  context->life.fetch_add(1, std::memory_order_release);
  return context;
}

Context* Runtime::CreateContext(Device& device, const Moment& by) {
  MutexLock lock(objects_);
  return MakeContext(device, false, by);
}

void Runtime::DestroyContext(Context& context, const Moment& by) {
  WaitFor(StreamsOf(context));
  Device& device = *context.device;
  bool close;
  {
    MutexLock lock(objects_);
    if ((context.life.load(std::memory_order_relaxed) & 1) == 0) return;
    UnmakeContext(context, by);
    close = device.contexts.empty();
  }
  if (close) Release(device, by, "destroyed");
}

void Runtime::UnmakeContext(Context& context, const Moment& by) {
  Device& device = *context.device;
  context.life.fetch_add(1, std::memory_order_release);
  context.destroyed = by;
  while (!context.streams.empty()) UnmakeStream(*context.streams.back(), by);
  std::erase(device.contexts, &context);
  if (device.primary == &context) device.primary = nullptr;
  contexts_.Remove(context.handle);
}

Runtime::ResetResult Runtime::ResetDevice(Device& device, bool force, const Moment& by, Leftovers* left) {
  {
    MutexLock lock(objects_);
    if (device.set_count == 0) return ResetResult::kNotSet;
    bool last = force || device.set_count == 1 || machine_->quirks().reset_counting_old;
    if (!last) {
      --device.set_count;
      return ResetResult::kCounted;
    }
    for (const Context* context : device.contexts) {
      if (!context->is_primary) {
        ++left->contexts;
        left->example = context->created;
      }
      for (const StreamObject* stream : context->streams) {
        if (stream->is_default) continue;
        ++left->streams;
        left->example = stream->created;
      }
    }
  }
  Release(device, by, "reset");
  if (force) MendDevice(device);  // SPEC 21 §6.3
  return ResetResult::kReleased;
}

// The end of a device in the middle of the program. Its streams and contexts are the business of
// `teardown-order`.
void Runtime::Release(Device& device, const Moment& by, const char* role) {
  WaitFor(StreamsOf(device));
  if (reporter_->Wants(check::FindingId::kLeak)) {
    LeakReport leaks;
    FindLeakedMemory(device, &leaks);
    leaks.Send(*reporter_, {role, by});
  }
  CloseDevice(device, by);
}

// Waits for the tasks, then takes contexts, streams, memory, registrations and outgoing peers away (SPEC 10
// §4.2, 30 §4).
void Runtime::CloseDevice(Device& device, const Moment& by) {
  WaitFor(StreamsOf(device));
  {
    MutexLock lock(objects_);
    device.set_count = 0;
    device.released = by;
    while (!device.contexts.empty()) UnmakeContext(*device.contexts.back(), by);
  }
  if (memory::DeviceMemory* memory = memory_->Find(device.logical); memory != nullptr) {
    memory->ReleaseAll(by.site, by.thread);
  }
  memory_->host().UnregisterAll(device.logical);
  memory_->books().ClearPeers(device.logical);
}

bool Runtime::PrimaryActive(const Device& device) {
  MutexLock lock(objects_);
  return device.primary != nullptr;
}

// --- Streams

StreamObject* Runtime::MakeStream(Context& context, uint32_t priority, uint32_t flags, bool is_default,
                                  const Moment& by) {
  Device& device = *context.device;
  if (!memory_->books().TakeStream(device.logical)) return nullptr;
  void* handle = nullptr;
  StreamObject* stream = streams_.Add(&handle);
  if (stream == nullptr) {
    memory_->books().ReturnStream(device.logical);
    return nullptr;
  }
  int32_t id = device.next_stream_id;
  if (!device.free_stream_ids.empty()) {
    id = *device.free_stream_ids.begin();
    device.free_stream_ids.erase(device.free_stream_ids.begin());
  } else {
    ++device.next_stream_id;
  }
  stream->handle = handle;
  stream->stream = engine_->CreateStream(device.logical, id, &context.domain, (flags & kPersistent) != 0);
  stream->context = &context;
  stream->device = &device;
  stream->id = id;
  stream->priority = priority;
  stream->flags = flags;
  stream->is_default = is_default;
  stream->failure_mode.store(-1, std::memory_order_relaxed);
  for (std::atomic<uint32_t>* attribute :
       {&stream->overflow_switch, &stream->custom_tag, &stream->cache_op_info}) {
    attribute->store(0, std::memory_order_relaxed);
  }
  stream->last_host_function.store(0, std::memory_order_relaxed);
  stream->stopped.store(false, std::memory_order_relaxed);
  stream->created = by;
  stream->destroyed = {};
  context.streams.push_back(stream);
  return stream;
}

StreamObject* Runtime::CreateStream(Context& context, uint32_t priority, uint32_t flags, const Moment& by) {
  MutexLock lock(objects_);
  return MakeStream(context, priority, flags, false, by);
}

void Runtime::UnmakeStream(StreamObject& stream, const Moment& by) {
  Device& device = *stream.device;
  stream.destroyed = by;
  if (ReportBoard::Lost lost; tasks_->reports().Forget(*engine_, *stream.stream, &lost)) {
    tasks_->CallbacksLost(*stream.stream, lost, by);
  }
  streams_.Remove(stream.handle);
  std::erase(stream.context->streams, &stream);
  device.free_stream_ids.insert(stream.id);
  tasks_->Unreported(engine_->TakeFailure(*stream.stream, ~uint64_t{0}));
  engine_->DestroyStream(stream.stream);
  if (!BELAY_FAULT(11)) memory_->books().ReturnStream(device.logical);
}

void Runtime::DestroyStream(StreamObject& stream, const Moment& by) {
  engine_->Wait(*stream.stream, stream.stream->submitted());
  MutexLock lock(objects_);
  UnmakeStream(stream, by);
}

void Runtime::DestroyStreamForce(StreamObject& stream, const Moment& by) {
  engine_->Abort({stream.stream}, kStreamAbort, engine::Engine::kNoDeadline,
                 engine::Engine::Fate::kForgotten);
  DestroyStream(stream, by);
}

std::vector<StreamObject*> Runtime::StreamsOf(Context& context) {
  MutexLock lock(objects_);
  return context.streams;
}

std::vector<StreamObject*> Runtime::StreamsOf(Device& device) {
  MutexLock lock(objects_);
  std::vector<StreamObject*> streams;
  for (Context* context : device.contexts) {
    streams.insert(streams.end(), context->streams.begin(), context->streams.end());
  }
  return streams;
}

std::vector<StreamObject*> Runtime::AllStreams() {
  std::vector<StreamObject*> streams;
  for (Device& device : devices_) {
    std::vector<StreamObject*> its = StreamsOf(device);
    streams.insert(streams.end(), its.begin(), its.end());
  }
  return streams;
}

void Runtime::WaitFor(const std::vector<StreamObject*>& streams) {
  for (StreamObject* stream : streams) engine_->Wait(*stream->stream, stream->stream->submitted());
}

// --- Events

EventObject* Runtime::CreateEvent(engine::Event::Family family, uint32_t flags, Device& device,
                                  const engine::Event::Traits& traits, const Moment& by) {
  uint32_t id = IdPool::kNone;
  if (traits.bit) {  // SPEC 20 §4.1: a flag event holds its id from creation to destroy
    id = device.event_ids->Take();
    if (id == IdPool::kNone) return nullptr;
  }
  void* handle = nullptr;
  EventObject* event = events_.Add(&handle, [&](EventObject& fresh) {
    fresh.handle = handle;
    fresh.event = new engine::Event(family, flags, device.logical, traits);
    fresh.event->id.store(id, std::memory_order_relaxed);
    fresh.device = &device;
    fresh.recorded.store(false, std::memory_order_relaxed);
    fresh.leak_told = false;
    fresh.created = by;
    fresh.destroyed = {};
  });
  if (event == nullptr && traits.bit) device.event_ids->Return(id);
  return event;
}

void Runtime::DestroyEvent(EventObject& event, const Moment& by) {
  event.destroyed = by;
  engine::Event* inner = event.event;
  events_.Remove(event.handle);
  if (inner->bit() != nullptr) {
    inner->bit()->orphan.store(true, std::memory_order_relaxed);
    if (check::OrderChecker* checker = order()) checker->SignalGone(*inner->bit());
    event.device->event_ids->Return(inner->id.load(std::memory_order_relaxed));
  }
  inner->SetLatest(nullptr);  // the latest record holds the event, and the event the record
  inner->Drop();
}

// --- Notifies

NotifyObject* Runtime::CreateNotify(Device& device, bool counts, const Moment& by) {
  uint32_t id = device.notify_ids->Take();
  if (id == IdPool::kNone) return nullptr;
  void* handle = nullptr;
  auto fill = [&](NotifyObject& fresh) {
    fresh.handle = handle;
    fresh.signal = new engine::Signal;
    fresh.device = &device;
    fresh.id = id;
    fresh.leak_told = false;
    fresh.created = by;
    fresh.destroyed = {};
  };
  NotifyObject* notify = counts ? counters_.Add(&handle, fill) : notifies_.Add(&handle, fill);
  if (notify == nullptr) device.notify_ids->Return(id);
  return notify;
}

void Runtime::DestroyNotify(NotifyObject& notify, bool counts, const Moment& by) {
  notify.destroyed = by;
  engine::Signal* signal = notify.signal;
  Device& device = *notify.device;
  uint32_t id = notify.id;
  if (counts) {
    counters_.Remove(notify.handle);
  } else {
    notifies_.Remove(notify.handle);
  }
  signal->orphan.store(true, std::memory_order_relaxed);
  if (check::OrderChecker* checker = order()) checker->SignalGone(*signal);
  signal->Drop();
  device.notify_ids->Return(id);
}

// --- Faults

void Runtime::BreakDevice(const engine::Failure& failure) {
  int user = UserId(failure.device);
  if (user < 0) return;
  Device& broken = device(user);
  std::vector<Context*> contexts;
  {
    MutexLock lock(objects_);
    if (broken.fatal.load(std::memory_order_relaxed) == 0) broken.fault = failure;
    broken.aborted.store(false, std::memory_order_relaxed);
    int32_t none = 0;
    broken.fatal.compare_exchange_strong(none, failure.code, std::memory_order_release);
    contexts = broken.contexts;
  }
  for (Context* context : contexts) engine_->Stop(context->domain, failure);
}

engine::Failure Runtime::FaultOf(Device& device) {
  MutexLock lock(objects_);
  return device.fault;
}

void Runtime::MendDevice(Device& device) {
  MutexLock lock(objects_);
  device.fault = {};
  device.fatal.store(0, std::memory_order_release);
  for (Context* context : device.contexts) engine_->Restart(context->domain);
  device.aborted.store(false, std::memory_order_relaxed);
}

bool Runtime::AbortTasks(Device& device, int64_t deadline_ns) {
  std::vector<engine::Stream*> streams;
  for (StreamObject* stream : StreamsOf(device)) streams.push_back(stream->stream);
  if (!engine_->Abort(streams, kDeviceTaskAbort, deadline_ns)) return false;
  MutexLock lock(objects_);
  device.aborted.store(true, std::memory_order_relaxed);
  // What broke the device lasts until it is mended.
  if (device.fatal.load(std::memory_order_relaxed) != 0) return true;
  for (Context* context : device.contexts) engine_->Restart(context->domain);
  return true;
}

bool Runtime::WouldRelease(Device& device, bool force) {
  MutexLock lock(objects_);
  return device.set_count != 0 && (force || device.set_count == 1 || machine_->quirks().reset_counting_old);
}

// --- Bindings

void Runtime::NoteBinding(int device, const Moment& by) {
  MutexLock lock(binding_);
  last_binding_ = {device, by};
}

Runtime::LastBinding Runtime::last_binding() {
  MutexLock lock(binding_);
  return last_binding_;
}

}  // namespace belay::runtime
