#include "threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

namespace conformance {
namespace {

// How often a thread gave the processor up, or "" while it runs.
std::string SleepsSince(int tid) {
  std::ifstream status("/proc/self/task/" + std::to_string(tid) + "/status");
  std::string line, state, count;
  while (std::getline(status, line)) {
    if (line.rfind("State:", 0) == 0) state = line;
    if (line.rfind("voluntary_ctxt_switches:", 0) == 0) count = line;
  }
  return state.find("S (sleeping)") == std::string::npos ? "" : count;
}

}  // namespace

void Flag::Set() {
  const std::lock_guard lock(mutex_);
  set_ = true;
  changed_.notify_all();
}
void Flag::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return set_; });
}
bool Flag::is_set() {
  const std::lock_guard lock(mutex_);
  return set_;
}

void Gate::Body(void* gate) {
  Gate& self = *static_cast<Gate*>(gate);
  self.entered.Set();
  self.go.Wait();
  ++self.passed;
}

void CountUp(void* atomic_int) {
  ++*static_cast<Counter*>(atomic_int);
}

bool Eventually(const std::function<bool()>& answer) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!answer()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

bool RunUntil(aclrtStream stream, Flag& flag) {
  return Eventually([&] {
    aclrtStreamStatus status;
    aclrtStreamQuery(stream, &status);
    return flag.is_set();
  });
}

BlockedCall::BlockedCall(aclrtContext context, std::function<aclError()> call) {
  thread_ = std::thread([this, context, call = std::move(call)] {
    EXPECT_OK(aclrtSetCurrentContext(context));
    tid_ = static_cast<int>(ThreadNumber());
    calling_ = true;
    code_ = call();
    returned_ = true;
  });
  // Asleep twice without having run in between: a short lock on the way into the call does not look like
  // that.
  std::string before = "-";
  EXPECT_TRUE(Eventually([&] {
    if (!calling_) return false;
    if (returned_) return true;
    const std::string now = SleepsSince(tid_);
    return !now.empty() && now == std::exchange(before, now);
  }));
}
BlockedCall::~BlockedCall() {
  if (thread_.joinable()) thread_.join();
}
aclError BlockedCall::Join() {
  thread_.join();
  return code_;
}

uint32_t ThreadNumber() {
  return static_cast<uint32_t>(syscall(SYS_gettid));
}
uint64_t ReportId() {
  return static_cast<uint64_t>(pthread_self());
}

Poller::Poller(std::function<void()> first) {
  thread_ = std::thread([this, first = std::move(first)] {
    if (first) first();
    while (!stop_) aclrtProcessReport(100);
  });
}
Poller::~Poller() {
  Stop();
}
uint64_t Poller::id() {
  return static_cast<uint64_t>(thread_.native_handle());
}
void Poller::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace conformance
