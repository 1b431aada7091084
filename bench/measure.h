// Compares operations with raw loops in one process: interleaved rounds, medians of the ratios of each round.
//
// Absolute times move by tens of percent between runs of a virtual machine; a ratio of neighbours moves by a
// few. Latencies are told in uncontended pthread mutex lock+unlock pairs, measured in the same rounds.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace bench {

// Keeps the compiler from deleting stores that nothing reads.
inline void Escape(const void* p) {
  asm volatile("" : : "r"(p) : "memory");
}

inline double Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Written huge-page memory, at `skew` bytes from a 2 MiB boundary.
inline uint8_t* HugeBuffer(size_t bytes, size_t skew = 0) {
  constexpr size_t kHuge = size_t{2} << 20;
  void* mapped = mmap(nullptr, bytes + 2 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    perror("mmap");
    exit(2);
  }
  auto address = (reinterpret_cast<uintptr_t>(mapped) + kHuge - 1) & ~(kHuge - 1);
  auto* start = reinterpret_cast<uint8_t*>(address);
  madvise(start, bytes + skew, MADV_HUGEPAGE);
  memset(start, 0x5a, bytes + skew);
  return start + skew;
}

struct Settings {
  int rounds = 31;
  double round_ns = 2e6;
  std::string only;  // ids that contain this text

  bool Wants(const std::string& id) const { return only.empty() || id.find(only) != std::string::npos; }
};

inline Settings Parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name == "--rounds" && i + 1 < argc) {
      settings.rounds = std::max(1, atoi(argv[++i]));
    } else if (name == "--round-ms" && i + 1 < argc) {
      settings.round_ns = atof(argv[++i]) * 1e6;
    } else if (name == "--only" && i + 1 < argc) {
      settings.only = argv[++i];
    } else {
      fprintf(stderr, "%s [--rounds N] [--round-ms MS] [--only TEXT]\n", argv[0]);
      exit(name == "--help" ? 0 : 2);
    }
  }
  return settings;
}

inline double Quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}
inline double Median(const std::vector<double>& values) {
  return Quantile(values, 0.5);
}

// Nanoseconds of one call, by at least `least_ns` of calls after one that warms up.
template <class F>
double Time(F&& f, double least_ns, int& calls) {
  f();
  for (;;) {
    double start = Now();
    for (int i = 0; i < calls; ++i) f();
    double spent = Now() - start;
    if (spent >= least_ns * 0.9) return spent / calls;
    double wanted = spent > 0 ? least_ns / spent * 1.1 : 1000;
    calls = static_cast<int>(std::min(static_cast<double>(calls) * std::min(wanted, 1000.0) + 1, 1e8));
  }
}

// Nanoseconds of a call, the median of slices that together take `least_ns`: a slice in which somebody else
// had the processor does not count. `slice(n)` gives the nanoseconds that it measured over n calls.
template <class F>
double Sliced(double least_ns, int& calls, F slice) {
  constexpr int kSlices = 20;
  double least = least_ns / kSlices;
  for (;;) {
    double measured = slice(calls);
    if (measured >= least * 0.9) break;
    double wanted = measured > 0 ? least / measured * 1.1 : 10;
    calls = static_cast<int>(std::min(calls * std::min(wanted, 100.0) + 1, 1e7));
  }
  std::vector<double> times;
  for (int i = 0; i < kSlices; ++i) times.push_back(slice(calls) / calls);
  return Median(times);
}

// The same for what is called again and again.
template <class F>
double Repeated(double least_ns, int& calls, F call) {
  return Sliced(least_ns, calls, [&](int n) {
    double start = Now();
    for (int i = 0; i < n; ++i) call();
    return Now() - start;
  });
}

// Times per round of each contender, who tells its own. Every other round runs backwards.
inline std::vector<std::vector<double>> Interleave(const Settings& settings,
                                                   const std::vector<std::function<double()>>& contenders) {
  const size_t count = contenders.size();
  std::vector<std::vector<double>> times(count);
  for (int round = -1; round < settings.rounds; ++round) {
    for (size_t k = 0; k < count; ++k) {
      size_t turn = round % 2 == 0 ? k : count - 1 - k;
      double time = contenders[turn]();
      if (round >= 0) times[turn].push_back(time);  // the first round only finds the counts
    }
  }
  return times;
}

// The same for functions that are called again and again, the first named the base.
template <class... Fs>
std::vector<std::vector<double>> Rounds(const Settings& settings, Fs&&... fs) {
  int calls[sizeof...(Fs)];
  std::fill(std::begin(calls), std::end(calls), 1);
  int* next = calls;
  std::vector<std::function<double()>> contenders;
  (contenders.push_back([&settings, &fs, count = next++] { return Time(fs, settings.round_ns, *count); }),
   ...);
  return Interleave(settings, contenders);
}

// a[i] / b[i]
inline std::vector<double> Ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios(a.size());
  for (size_t i = 0; i < a.size(); ++i) ratios[i] = a[i] / b[i];
  return ratios;
}

// A user's mistake or a broken library ends the benchmark: a number from a refused call is worse than none.
inline void Must(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  const char* why = aclGetRecentErrMsg();
  fprintf(stderr, "%s: %d %s\n", what, static_cast<int>(code), why == nullptr ? "" : why);
  exit(2);
}
#define MUST(CALL) ::bench::Must((CALL), #CALL)

inline void Start() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  MUST(aclInit(nullptr));
  MUST(aclrtSetDevice(0));
}

}  // namespace bench
