// stress SEED ROUNDS [DISTORTION] | stress --soak: rounds of random work by several host threads; README.md
// says what must hold. Prints the codes that each function returned, for run.py.
//
// A distortion breaks one promise on purpose (books, hang, code or threads): the run must then fail.
#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "actor.h"

namespace stress {
namespace {

constexpr size_t kActors = 4;
constexpr int kSteps = 250;
constexpr auto kPatience = std::chrono::seconds(20);
constexpr auto kShortPatience = std::chrono::milliseconds(500);  // where the call is known to hang
constexpr int kSkipped = 77;

// Ends the process when a thread stays in one call for too long.
class Watchdog {
 public:
  Watchdog(std::vector<std::unique_ptr<Journal>>& journals, std::chrono::milliseconds patience)
      : journals_(journals), patience_(patience), seen_(journals.size()), thread_([this] { Watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    uint64_t calls = 0;
    Clock::time_point since = Clock::now();
  };

  void Watch() {
    std::unique_lock lock(mutex_);
    // Woken by the destructor.
    while (!ended_.wait_for(lock, std::chrono::milliseconds(200), [&] { return ends_; })) {
      for (size_t i = 0; i < journals_.size(); ++i) {
        const Journal& journal = *journals_[i];
        if (journal.at() == nullptr || journal.calls() != seen_[i].calls)
          seen_[i] = {journal.calls(), Clock::now()};
        if (Clock::now() - seen_[i].since > patience_) Hangs();
      }
    }
  }
  [[noreturn]] void Hangs() {
    for (const auto& journal : journals_) {
      const char* at = journal->at();
      std::printf("  %s: %s\n", journal->name(), at == nullptr ? "outside" : at);
    }
    Fail("a call hangs");
  }

  std::vector<std::unique_ptr<Journal>>& journals_;
  const std::chrono::milliseconds patience_;
  std::vector<Seen> seen_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

int Entries(const char* path) {
  int count = 0;
  DIR* directory = opendir(path);
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

void Exception(aclrtExceptionInfo* info) {
  const uint32_t code = aclrtGetErrorCodeFromExceptionInfo(info);
  if (code == 0) Fail("an exception without a code");
  aclrtGetStreamIdFromExceptionInfo(info);
}

std::string Text(const Books& books) {
  return std::to_string(books.streams) + " streams, " + std::to_string(books.events) + " events, " +
         std::to_string(books.memory) + " bytes";
}

void Round(World& world, std::vector<std::unique_ptr<Journal>>& journals,
           const std::array<Books, kDevices>& start, uint64_t seed, uint64_t number) {
  Journal& own = *journals.back();
  world.Build(own);
  std::vector<std::unique_ptr<Actor>> actors;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kActors; ++i) {
    const uint64_t actor_seed = seed + number * kActors + i;
    actors.push_back(std::make_unique<Actor>(world, *journals[i], actor_seed, number % 4 == 3));
    threads.emplace_back([&actor = *actors.back()] { actor.Run(kSteps); });
  }
  for (std::thread& thread : threads) thread.join();
  const auto compare = [&](int32_t d) {
    const Books books = world.Read(own, d);
    if (books != start[static_cast<size_t>(d)])
      Fail("round " + std::to_string(number) + ": device " + std::to_string(d) + " has " + Text(books) +
           ", had " + Text(start[static_cast<size_t>(d)]));
  };
  // Before the devices are reset: a reset would take back what was left.
  world.TakeDown(own, number);
  for (int32_t d = 0; d < kDevices; ++d) {
    if (d == 0 || !world.broken) compare(d);
  }
  world.Reset(own, world.broken || number % 3 == 0);
  for (int32_t d = 0; d < kDevices; ++d) compare(d);
}

void Distort(Journal& journal, const std::string& what) {
  aclrtEvent event = nullptr;
  CALL(journal, aclrtSetDevice(0));
  if (what == "books") {
    aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC);
  } else if (what == "hang") {
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    belay_hold_stream(stream);
    aclrtCreateEvent(&event);
    aclrtRecordEvent(event, stream);
    CALL(journal, aclrtSynchronizeStream(stream));
  } else if (what == "code") {
    journal.Leave("aclrtFree(", ACL_ERROR_RT_NO_EVENT_RESOURCE);
  } else if (what == "threads") {
    for (int i = 0; i < 100; ++i) std::thread([] { pause(); }).detach();
  }
}

int Main(uint64_t seed, uint64_t rounds, std::chrono::duration<double> time, const std::string& distortion) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  if (aclInit(nullptr) != ACL_SUCCESS) Fail("aclInit failed");
  aclrtSetExceptionInfoCallback(Exception);
  std::vector<std::unique_ptr<Journal>> journals;
  for (const char* name : {"thread 0", "thread 1", "thread 2", "thread 3", "main"})
    journals.push_back(std::make_unique<Journal>(name));
  std::printf("stress: seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  int threads = 0, descriptors = 0;
  uint64_t bodies = 0;
  {
    World world;
    std::array<Books, kDevices> start;
    for (int32_t d = 0; d < kDevices; ++d) start[static_cast<size_t>(d)] = world.Read(*journals.back(), d);
    threads = Entries("/proc/self/task");
    descriptors = Entries("/proc/self/fd");
    const Watchdog watchdog(journals, distortion == "hang" ? kShortPatience : kPatience);
    if (!distortion.empty()) Distort(*journals.back(), distortion);
    for (uint64_t number = 0; number < rounds && (time.count() == 0 || Clock::now() < end); ++number)
      Round(world, journals, start, seed, number);
    bodies = world.bodies;
  }
  if (bodies == 0) Fail("no body ran");
  if (aclFinalize() != ACL_SUCCESS) Fail("aclFinalize failed");
  // Workers, the alarm and the one that tells of failures may stay until the process ends; threads of host
  // functions leave within about a second.
  const auto patience = Clock::now() + std::chrono::seconds(distortion.empty() ? 5 : 1);
  constexpr int kStay = 2;
  const int workers = atoi(getenv("STRESS_WORKERS") == nullptr ? "64" : getenv("STRESS_WORKERS"));
  while (Entries("/proc/self/task") > threads + workers + kStay) {
    if (Clock::now() > patience) Fail("threads are left");
    poll(nullptr, 0, 5);
  }
  if (Entries("/proc/self/fd") != descriptors) Fail("descriptors are left");
  Codes codes;
  for (const auto& journal : journals) journal->AddTo(codes);
  for (const auto& [key, count] : codes)
    std::printf("code %s %d %llu\n", key.first.c_str(), key.second, static_cast<unsigned long long>(count));
  std::printf("stress: %llu bodies ran\n", static_cast<unsigned long long>(bodies));
  return 0;
}

}  // namespace
}  // namespace stress

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--soak") == 0) {
    const char* minutes = getenv("BELAY_SOAK_MINUTES");
    if (minutes == nullptr) return stress::kSkipped;
    return stress::Main(std::random_device()(), UINT64_MAX, std::chrono::duration<double>(atof(minutes) * 60),
                        "");
  }
  if (argc != 3 && argc != 4) {
    std::puts("stress SEED ROUNDS [DISTORTION] | stress --soak");
    return 2;
  }
  return stress::Main(strtoull(argv[1], nullptr, 10), strtoull(argv[2], nullptr, 10), {},
                      argc == 4 ? argv[3] : "");
}
