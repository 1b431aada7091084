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

// Times per round of each contender, the first named the base. Every other round runs backwards.
template <class... Fs>
std::vector<std::vector<double>> Rounds(const Settings& settings, Fs&&... fs) {
  constexpr size_t kCount = sizeof...(Fs);
  std::vector<std::vector<double>> times(kCount);
  int calls[kCount];
  std::fill(calls, calls + kCount, 1);
  auto run = [&](size_t wanted) {
    size_t index = 0;
    (((index++ == wanted) ? times[wanted].push_back(Time(fs, settings.round_ns, calls[wanted])) : void()),
     ...);
  };
  for (int round = -1; round < settings.rounds; ++round) {
    for (size_t k = 0; k < kCount; ++k) run(round % 2 == 0 ? k : kCount - 1 - k);
    if (round < 0) {
      for (auto& list : times) list.clear();  // the first round only finds the counts
    }
  }
  return times;
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
