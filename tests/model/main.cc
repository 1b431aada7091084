// model_test: random programs through the library, each compared with the interpreter.
//
//   --programs N       so many programs (default 3000)
//   --seconds S        or until S seconds have passed
//   --seed N           of the first program (default 1; 0: a new one each time)
//   --soak             for BELAY_SOAK_MINUTES minutes; skipped where that is not set
//   --features LIST    only these of what the library has
//   --program FILE     this program --programs times
//   --print            prints the program of --seed
//   --distort WHAT     expects something wrong (bytes, status, code or books): the test must fail
//   --keep             does not cut a failing program down
//
// The schedule and the workers are options of the library: BELAY="schedule=eager; workers=0".
// Exit codes: 0, 1 on a mismatch, 2 on a wrong argument, 3 on a hang, 77 skipped.
#include <acl/acl.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "feature.h"
#include "generator.h"
#include "minimise.h"
#include "runner.h"

extern char** environ;

namespace model {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  uint64_t programs = 3000, seed = 1;
  double seconds = 1e9, stall_seconds = 10;
  bool print = false, keep = false;
  unsigned features = kEveryFeature;
  std::string program, distort;
};

enum Exit { kFine = 0, kMismatch = 1, kUsage = 2, kHang = 3, kSkipped = 77 };

// Whether the program also fails in a process of its own, where a hang or a crash does no harm.
class Trial {
 public:
  Trial() : path_("/tmp/belay-model-" + std::to_string(getpid()) + ".txt") {}
  ~Trial() { unlink(path_.c_str()); }

  bool Fails(const Program& program) {
    if (Clock::now() > end_) return false;
    std::ofstream(path_) << ToText(program);
    std::string arguments[] = {"/proc/self/exe", "--program", path_, "--programs", "300",
                               "--keep",         "--stall",   "2"};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int fd : {1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    int status = 0;
    const bool started = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started || waitpid(child, &status, 0) != child) return false;
    return !WIFEXITED(status) || (WEXITSTATUS(status) != kFine && WEXITSTATUS(status) != kUsage);
  }

 private:
  std::string path_;
  Clock::time_point end_ = Clock::now() + std::chrono::seconds(60);
};

void Report(const Program& program, const std::string& what, bool keep) {
  const char* options = getenv("BELAY");
  std::cerr << "model: " << what << "\nmodel: seed " << program.seed << ", BELAY=\""
            << (options == nullptr ? "" : options) << "\"\n";
  Program shown = program;
  if (!keep) {
    Trial trial;
    if (trial.Fails(program)) {
      shown = Minimise(program, [&](const Program& smaller) { return trial.Fails(smaller); });
    } else {
      std::cerr << "model: 300 further runs of this program alone did not fail\n";
    }
  }
  std::cerr << "# " << shown.calls.size() << " calls; run this again: model_test --program FILE\n"
            << ToText(shown);
}

// Ends the process when a program does not end.
class Watchdog {
 public:
  Watchdog(const Progress& progress, const Options& options)
      : progress_(progress), options_(options), thread_([this] { Loop(); }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex_);
      ends_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }
  void Watch(const Program* program) {
    std::lock_guard lock(mutex_);
    program_ = program;
  }

 private:
  void Loop() {
    uint64_t seen = UINT64_MAX;
    std::unique_lock lock(mutex_);
    const auto period = std::chrono::duration<double>(options_.stall_seconds / 2);
    for (int looks = 0; !ended_.wait_for(lock, period, [&] { return ends_; });) {  // woken by the destructor
      const uint64_t now = progress_.programs.load();
      looks = now == seen && program_ != nullptr ? looks + 1 : 0;
      seen = now;
      if (looks < 2) continue;
      std::ostringstream where;
      where << "hang";
      for (size_t t = 0; t < progress_.at.size(); ++t) {
        const int at = progress_.at[t].load();
        if (at >= 0)
          where << "\n  thread " << t << " in call " << at << ": " << ToText(program_->calls[size_t(at)]);
      }
      Report(*program_, where.str(), options_.keep);
      _exit(kHang);
    }
  }

  const Progress& progress_;
  const Options& options_;
  std::mutex mutex_;
  std::condition_variable ended_;
  const Program* program_ = nullptr;
  bool ends_ = false;
  std::thread thread_;
};

// Makes the first expectation of a kind wrong, to see the test fail.
void Distort(const std::string& what, const Program& program, std::vector<Expectation>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const Kind kind = program.calls[i].kind;
    Expectation& e = expected[i];
    if (what == "bytes" && kind == Kind::kRead) {
      e.bytes[e.bytes.size() / 2] ^= 1;
      return;
    }
    const bool sure = e.has_output && e.low == e.high && e.code == 0;
    const bool books = kind == Kind::kMemoryLeft || kind == Kind::kStreamsLeft;
    if (sure && ((what == "status" && kind == Kind::kQueryStream) || (what == "books" && books))) {
      e.low = ++e.high;
      return;
    }
    if (what == "code" && kind == Kind::kSyncStream) {
      e.code = 507000;
      return;
    }
  }
}

std::optional<Options> Read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const bool alone = name == "--print" || name == "--keep" || name == "--soak";
    const char* value = alone ? "" : i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr) return std::nullopt;
    if (name == "--programs") {
      options.programs = std::stoull(value);
    } else if (name == "--seconds") {
      options.seconds = std::stod(value);
      options.programs = UINT64_MAX;
    } else if (name == "--seed") {
      options.seed = std::stoull(value);
    } else if (name == "--stall") {
      options.stall_seconds = std::stod(value);
    } else if (name == "--features") {
      options.features = ParseFeatures(value);
    } else if (name == "--program") {
      options.program = value;
    } else if (name == "--distort") {
      options.distort = value;
    } else if (name == "--print") {
      options.print = true;
    } else if (name == "--keep") {
      options.keep = true;
    } else if (name == "--soak") {
      const char* minutes = getenv("BELAY_SOAK_MINUTES");
      options.seconds = minutes == nullptr ? 0 : std::stod(minutes) * 60;
      options.programs = UINT64_MAX;
      options.seed = 0;
    } else {
      return std::nullopt;
    }
  }
  if (options.seed == 0) options.seed = std::random_device()();
  return options;
}

int Main(const Options& options) {
  std::optional<Program> given;
  if (!options.program.empty()) {
    std::stringstream text;
    text << std::ifstream(options.program).rdbuf();
    given = Parse(text.str());
    if (!given || given->streams.empty() || !Accept(*given, nullptr)) {
      std::cerr << "model: " << options.program << " is no program with one outcome\n";
      return kUsage;
    }
  }
  if (options.print) {
    std::cout << ToText(Generate(options.seed, options.features));
    return kFine;
  }
  if (options.seconds == 0) return kSkipped;
  // Large expectations come and go with every program: giving their pages back would be most of the work.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  Progress progress;
  Runner runner(progress);
  if (!runner.problem().empty()) {
    std::cerr << "model: " << runner.problem() << "\n";
    return kMismatch;
  }
  const unsigned features = options.features & ProbeFeatures();
  Watchdog watchdog(progress, options);
  const auto start = Clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  uint64_t calls = 0, programs = 0;
  for (; programs < options.programs && seconds() < options.seconds; ++programs) {
    const Program program = given ? *given : Generate(options.seed + programs, features);
    std::vector<Expectation> expected;
    if (!Accept(program, &expected)) {
      std::cerr << "model: the generator made a program without one outcome, seed " << program.seed << "\n"
                << ToText(program);
      return kMismatch;
    }
    if (!options.distort.empty()) Distort(options.distort, program, expected);
    calls += program.calls.size();
    watchdog.Watch(&program);
    const std::optional<Failure> failure = runner.Run(program, expected);
    watchdog.Watch(nullptr);
    if (!failure) continue;
    Report(program, "mismatch in call " + std::to_string(failure->call) + ": " + failure->text,
           options.keep || !options.distort.empty());
    _exit(kMismatch);  // the runtime may be in any state
  }
  std::cout << "model: " << programs << " programs from seed " << options.seed << ", " << calls << " calls, "
            << static_cast<uint64_t>(static_cast<double>(programs) / seconds())
            << " programs/s; features: " << FeatureNames(features) << "\n";
  return kFine;
}

}  // namespace
}  // namespace model

int main(int argc, char** argv) {
  const auto options = model::Read(argc, argv);
  if (!options) {
    std::cerr << "model_test: wrong arguments; the options stand at the top of main.cc\n";
    return model::kUsage;
  }
  return model::Main(*options);
}
