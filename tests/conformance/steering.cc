#include "steering.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

namespace conformance {
namespace {

template <typename Function>
void LookUp(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Control MakeControl() {
  Control control;
  LookUp(control.hold_stream, "belay_hold_stream");
  LookUp(control.release_stream, "belay_release_stream");
  LookUp(control.land_one, "belay_land_one");
  LookUp(control.list_pending, "belay_list_pending");
  LookUp(control.fail_next_task, "belay_fail_next_task");
  LookUp(control.fail_device, "belay_fail_device");
  return control;
}

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

bool Control::complete() const {
  return hold_stream != nullptr && release_stream != nullptr && land_one != nullptr &&
         list_pending != nullptr && fail_next_task != nullptr && fail_device != nullptr;
}

const Control& TheControl() {
  static const Control control = MakeControl();
  return control;
}

void Steered::SetUp() {
  if (!TheControl().complete()) GTEST_SKIP() << "this library cannot be steered";
  OnTwoDevices::SetUp();
}

Held::Held(aclrtStream stream) : stream_(stream) {
  EXPECT_OK(TheControl().hold_stream(stream_));
}
Held::~Held() {
  if (held_) TheControl().release_stream(stream_);  // the stream may be gone
}
int Held::LandOne() {
  int landed = -1;
  EXPECT_OK(TheControl().land_one(stream_, &landed));
  return landed;
}
size_t Held::Pending() {
  size_t count = 999;
  EXPECT_OK(TheControl().list_pending(stream_, nullptr, 0, &count));
  return count;
}
void Held::Release() {
  EXPECT_OK(TheControl().release_stream(stream_));
  held_ = false;
}

void FailNext(aclrtStream stream, aclError code) {
  EXPECT_OK(TheControl().fail_next_task(stream, code));
}

std::string Message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}
aclError Peek() {
  return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
}
aclError Take() {
  return aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

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

aclrtContext CurrentContext() {
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&context));
  return context;
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
