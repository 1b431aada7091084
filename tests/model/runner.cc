#include "runner.h"

#include <acl/acl.h>
#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "execution.h"

namespace model {

// Runs one section at a time; it stays between programs because starting a thread takes longer than most of
// them.
class Runner::HostThread {
 public:
  HostThread() : thread_([this] { Loop(); }) {}
  ~HostThread() {
    Give(nullptr, true);
    thread_.join();
  }

  void Start(std::function<void()> section) { Give(std::move(section), false); }
  void Join() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !section_; });  // woken by Loop() at the end of the section
  }

 private:
  void Give(std::function<void()> section, bool ends) {
    std::lock_guard lock(mutex_);
    section_ = std::move(section);
    ends_ = ends;
    changed_.notify_all();
  }

  void Loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || section_; });  // woken by Give()
      if (ends_) return;
      lock.unlock();
      section_();
      lock.lock();
      section_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> section_;
  bool ends_ = false;
  std::thread thread_;
};

// Serves the subscribed streams of one device until the end of the process.
class Runner::CallbackThread {
 public:
  CallbackThread() : thread_([this] { Loop(); }), id_(static_cast<uint64_t>(thread_.native_handle())) {}
  ~CallbackThread() {
    ends_ = true;
    thread_.join();
  }
  uint64_t id() const { return id_; }

 private:
  void Loop() {
    while (!ends_) aclrtProcessReport(100);
  }

  std::atomic<bool> ends_{false};
  std::thread thread_;
  uint64_t id_;
};

Runner::Runner(Progress& progress) : progress_(progress) {
  if (aclInit(nullptr) != ACL_SUCCESS) {
    problem_ = "aclInit failed";
    return;
  }
  for (int device = kMostDevices - 1; device >= 0; --device) {
    if (aclrtSetDevice(device) != ACL_SUCCESS ||
        aclrtGetCurrentContext(&contexts_[static_cast<size_t>(device)]) != ACL_SUCCESS) {
      problem_ = "aclrtSetDevice failed";
      return;
    }
    start_[static_cast<size_t>(device)] = ReadBooks(device);
  }
  for (size_t i = 1; i < threads_.size(); ++i) threads_[i] = std::make_unique<HostThread>();
}

Runner::~Runner() {
  for (auto& thread : callback_threads_) thread.reset();
  for (int device = 0; device < kMostDevices; ++device) aclrtResetDevice(device);
  aclFinalize();
}

Runner::Books Runner::ReadBooks(int device) const {
  Books books;
  size_t total = 0;
  aclrtSetCurrentContext(contexts_[static_cast<size_t>(device)]);
  aclrtGetStreamAvailableNum(&books.streams);
  aclrtGetMemInfo(ACL_HBM_MEM, &books.memory, &total);
  if (aclrtGetEventAvailNum(&books.events) != ACL_SUCCESS) books.events = 0;
  return books;
}

uint64_t Runner::CallbackThreadOf(int64_t device) {
  while (callback_lock_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  auto& thread = callback_threads_[static_cast<size_t>(device)];
  if (thread == nullptr) thread = std::make_unique<CallbackThread>();
  callback_lock_.clear(std::memory_order_release);
  return thread->id();
}

std::optional<Failure> Runner::Run(const Program& program, const std::vector<Expectation>& expected) {
  Execution execution(*this, program, expected);
  execution.SetUp();
  std::function<void(int64_t, size_t)> section = [&](int64_t thread, size_t first) {
    std::atomic<int>& at = progress_.at[static_cast<size_t>(thread)];
    int64_t current = -1;
    for (size_t i = first; i < program.calls.size(); ++i) {
      const Call& call = program.calls[i];
      if (!execution.InSection(i, thread)) continue;
      at.store(static_cast<int>(i), std::memory_order_relaxed);
      if (current != call.device) {
        current = call.device;
        aclrtSetCurrentContext(contexts_[static_cast<size_t>(current)]);
      }
      if (call.kind == Kind::kFork) {
        execution.StartSection(call.object);
        threads_[static_cast<size_t>(call.object)]->Start([&section, &call, i] { section(call.object, i); });
      } else if (call.kind == Kind::kJoin) {
        threads_[static_cast<size_t>(call.object)]->Join();
      } else {
        execution.Make(i);
      }
    }
    at.store(-1, std::memory_order_relaxed);
  };
  section(0, 0);
  execution.TearDown();
  for (int device = 0; device < program.devices && !execution.failure(); ++device) {
    const Books now = ReadBooks(device), &then = start_[static_cast<size_t>(device)];
    if (now.streams != then.streams || now.events != then.events || now.memory != then.memory) {
      execution.Fail(-1, "books of device " + std::to_string(device) +
                             " after everything was given back: streams " + std::to_string(now.streams) +
                             " of " + std::to_string(then.streams) + ", events " +
                             std::to_string(now.events) + " of " + std::to_string(then.events) + ", bytes " +
                             std::to_string(now.memory) + " of " + std::to_string(then.memory));
    }
  }
  progress_.programs.fetch_add(1);
  return execution.failure();
}

}  // namespace model
