// The engine's latencies, in mutex pairs and beside PoCL's devices, all in the same rounds.
//
// Small copies are 64 B from pinned host memory (OpenCL: a write that does not block). Prints a line of JSON
// for each:
//   latencies    pairs = ours / a mutex lock+unlock (less is better), high = upper quartile;
//                basic, default = that device's time / ours (more is better), with lower quartiles
//   threads/...  factor = a task's time while two threads work on two streams / while one does
//   idle-cpu     percent = processor time from 1 ms after the last task on, the upper quartile: a virtual
//                machine charges a process for what the host takes from it
#include "measure.h"
#include "mutex_pair.h"
#include "side_belay.h"
#include "two_threads.h"

#if BELAY_BENCH_OPENCL
#include "side_pocl.h"
#endif

namespace {

using bench::Now;
using bench::Repeated;
using bench::Sliced;

// Submissions to an idle stream. Where the task is done when the call returns, the next one finds the stream
// idle again and a plain loop will do. Elsewhere the stream is synchronised in between, off the clock, and
// the price of reading the clock, measured beside it, is taken off.
struct EnqueueIdle {
  static constexpr bool kHolds = false;
  template <class Side>
  double operator()(Side& side, double least_ns, int& calls) const {
    bool inside = true;
    for (int i = 0; i < 100 && inside; ++i) {
      side.Copy(0);
      inside = side.Idle(0);
    }
    side.Synchronize(0);
    if (inside) return Repeated(least_ns, calls, [&] { side.Copy(0); });
    return Sliced(least_ns, calls, [&](int n) {
      double spent = 0, clock = 0;
      for (int i = 0; i < n; ++i) {
        double empty = Now();
        clock += Now() - empty;
        double start = Now();
        side.Copy(0);
        spent += Now() - start;
        side.Synchronize(0);
      }
      return spent - clock;
    });
  }
};

constexpr int kDepth = 1000;  // tasks or hops that are queued behind a hold

template <class Side, class Submit>
double Held(Side& side, int holds, bool drain, Submit submit) {
  double measured = 0;
  for (int i = 0; i < holds; ++i) {
    side.Hold();
    double start = Now();
    submit();
    measured += Now() - start;
    double released = side.Release();
    side.Synchronize(1);
    side.Synchronize(0);
    if (drain) measured += Now() - released;
  }
  return measured;
}

// Submissions while nothing of the stream runs yet; `drain`: until they are done.
struct EnqueueBusy {
  static constexpr bool kHolds = true;
  bool drain;
  template <class Side>
  double operator()(Side& side, double least_ns, int& calls) const {
    return Sliced(least_ns, calls,
                  [&](int n) {
                    return Held(side, n, drain, [&] {
                      for (int i = 0; i < kDepth; ++i) side.Copy(0);
                    });
                  }) /
           kDepth;
  }
};

struct CopyAndSynchronize {
  static constexpr bool kHolds = false;
  template <class Side>
  double operator()(Side& side, double least_ns, int& calls) const {
    return Repeated(least_ns, calls, [&] { side.Copy(0), side.Synchronize(0); });
  }
};

struct RecordAndSynchronize {
  static constexpr bool kHolds = false;
  template <class Side>
  double operator()(Side& side, double least_ns, int& calls) const {
    return Repeated(least_ns, calls, [&] { side.RecordAndSynchronize(0); });
  }
};

// Back and forth, each hop behind the one before it; a batch ends when it is done.
template <class Side>
void Hops(Side& side, int hops, bool linked) {
  for (int i = 0; i < hops; ++i) {
    if (linked) {
      side.LinkedHop(i & 1, 1 - (i & 1));
    } else {
      side.Hop(i & 1, 1 - (i & 1));
    }
  }
}

struct HopIdle {
  static constexpr bool kHolds = false;
  bool linked;
  template <class Side>
  double operator()(Side& side, double least_ns, int& calls) const {
    constexpr int kBatch = 32;
    return Repeated(least_ns, calls,
                    [&] {
                      Hops(side, kBatch, linked);
                      side.Synchronize(0), side.Synchronize(1);
                    }) /
           kBatch;
  }
};

struct HopQueued {
  static constexpr bool kHolds = true;
  template <class Side>
  double operator()(Side& side, double least_ns, int& calls) const {
    return Sliced(least_ns, calls,
                  [&](int n) { return Held(side, n, true, [&] { Hops(side, kDepth, false); }); }) /
           kDepth;
  }
};

class Comparison {
 public:
  explicit Comparison(const bench::Settings& settings) : settings_(settings) {
#if BELAY_BENCH_OPENCL
    pocl_ = bench::SidePocl::Open();
    if (pocl_.basic == nullptr || pocl_.threaded == nullptr) {
      fprintf(stderr, "PoCL has no device here: its columns are left out\n");
      pocl_ = {};
    } else if (!pocl_.basic->Works() || !pocl_.threaded->Works()) {
      fprintf(stderr, "a copy of PoCL did not arrive\n");
      exit(2);
    }
#else
    fprintf(stderr, "built without OpenCL: the columns of PoCL are left out\n");
#endif
    if (belay_.Works()) return;
    fprintf(stderr, "a copy did not arrive\n");
    exit(2);
  }

  template <class F>
  void Measure(const char* id, F time) {
    if (!settings_.Wants(id)) return;
    int calls[4] = {1, 1, 1, 1};
    std::vector<std::function<double()>> contenders = {
        [&] { return Repeated(settings_.round_ns, calls[0], [&] { pairs_(); }) / bench::MutexPairs::kBatch; },
        [&] { return time(belay_, settings_.round_ns, calls[1]); }};
    std::vector<const char*> names;
#if BELAY_BENCH_OPENCL
    auto add = [&](const char* name, bench::SidePocl* side, int& count) {
      if (side == nullptr || (F::kHolds && !side->CanHold())) return;
      names.push_back(name);
      contenders.push_back([&, side] { return time(*side, settings_.round_ns, count); });
    };
    add("basic", pocl_.basic.get(), calls[2]);
    add("default", pocl_.threaded.get(), calls[3]);
#endif
    auto times = bench::Interleave(settings_, contenders);
    std::vector<double> pairs = bench::Ratios(times[1], times[0]);
    printf("{\"id\":\"%s\",\"pairs\":%.3f,\"high\":%.3f,\"pair_ns\":%.2f,\"ns\":%.1f", id,
           bench::Median(pairs), bench::Quantile(pairs, 0.75), bench::Median(times[0]),
           bench::Median(times[1]));
    for (size_t i = 2; i < times.size(); ++i) {
      std::vector<double> ratios = bench::Ratios(times[i], times[1]);
      const char* name = names[i - 2];
      printf(",\"%s\":%.3f,\"%s_low\":%.3f,\"%s_ns\":%.1f", name, bench::Median(ratios), name,
             bench::Quantile(ratios, 0.25), name, bench::Median(times[i]));
    }
    printf("}\n");
  }

 private:
  const bench::Settings settings_;
  bench::MutexPairs pairs_;
  bench::SideBelay belay_;
#if BELAY_BENCH_OPENCL
  bench::SidePocl::Devices pocl_;
#endif
};

void MeasureThreads(const bench::Settings& settings, const char* id, void (*task)(bench::SideBelay&)) {
  if (!settings.Wants(id)) return;
  bench::SideBelay sides[2];
  bench::TwoThreads threads([&](int index) { task(sides[index]); });
  if (!threads.possible()) {
    fprintf(stderr, "%s: one processor only\n", id);
    return;
  }
  int calls = 100;
  while (threads.Alone(calls) * calls * bench::TwoThreads::kSlices < settings.round_ns) calls *= 2;
  auto times = bench::Interleave(settings,
                                 {[&] { return threads.Alone(calls); }, [&] { return threads.Both(calls); }});
  std::vector<double> factors = bench::Ratios(times[1], times[0]);
  printf("{\"id\":\"%s\",\"factor\":%.3f,\"high\":%.3f,\"one_ns\":%.1f,\"ns\":%.1f}\n", id,
         bench::Median(factors), bench::Quantile(factors, 0.75), bench::Median(times[0]),
         bench::Median(times[1]));
}

double ProcessSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void Sleep(double seconds) {
  timespec left{0, static_cast<long>(seconds * 1e9)};
  while (nanosleep(&left, &left) != 0) {
  }
}

// Before OpenCL starts threads of its own.
void MeasureIdle(const bench::Settings& settings) {
  constexpr char kId[] = "idle-cpu";
  if (!settings.Wants(kId)) return;
  constexpr double kWindow = 0.2;
  bench::SideBelay side;
  std::vector<double> percents;
  for (int round = 0; round < settings.rounds; ++round) {
    side.Hold();  // the worker is awake and busy before it falls idle
    Hops(side, 100, false);
    side.Release();
    side.Synchronize(0), side.Synchronize(1);
    Sleep(0.001);
    double start = Now(), used = ProcessSeconds();
    Sleep(kWindow);
    percents.push_back((ProcessSeconds() - used) / ((Now() - start) * 1e-9) * 100);
  }
  printf("{\"id\":\"%s\",\"percent\":%.4f,\"worst\":%.4f}\n", kId, bench::Quantile(percents, 0.75),
         bench::Quantile(percents, 1.0));
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings = bench::Parse(argc, argv);
  bench::Start();
  MeasureIdle(settings);
  bench::KeepASecondThread();
  {
    Comparison all(settings);
    all.Measure("enqueue/idle", EnqueueIdle{});
    all.Measure("enqueue/busy", EnqueueBusy{false});
    all.Measure("enqueue/drained", EnqueueBusy{true});
    all.Measure("copy+sync", CopyAndSynchronize{});
    all.Measure("record+sync", RecordAndSynchronize{});
    all.Measure("hop/idle", HopIdle{false});
    all.Measure("hop/linked", HopIdle{true});
    all.Measure("hop/queued", HopQueued{});
  }
  MeasureThreads(settings, "threads/copy+sync",
                 [](bench::SideBelay& side) { side.Copy(0), side.Synchronize(0); });
  MeasureThreads(settings, "threads/record+sync",
                 [](bench::SideBelay& side) { side.RecordAndSynchronize(0); });
  MUST(aclFinalize());
}
