// aclrtMemcpy of one dimension against memcpy on the same kind of memory, 64 B to 256 MiB, in every
// direction.
//
// Prints a line of JSON for each: ratio = memcpy's time / ours (more is better), low = lower quartile,
// limit = memcpy's time / that of the best simple loop with non-temporal stores, i.e. how slow libc is here.
#include "measure.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

using bench::Escape;

#if defined(__SSE2__)
void Line(uint8_t* dst, const uint8_t* src) {
  for (int i = 0; i < 4; ++i) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(dst) + i,
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(src) + i));
  }
}
void InOrder(uint8_t* dst, const uint8_t* src, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(src + at + 512), _MM_HINT_NTA);
    Line(dst + at, src + at);
  }
  _mm_sfence();
}
void FourPages(uint8_t* dst, const uint8_t* src, size_t bytes) {
  for (size_t block = 0; block < bytes; block += 16384) {
    for (size_t at = block; at < block + 4096; at += 64) {
      for (size_t page = 0; page < 16384; page += 4096) Line(dst + at + page, src + at + page);
    }
  }
  _mm_sfence();
}
#else
void InOrder(uint8_t* dst, const uint8_t* src, size_t bytes) {
  memcpy(dst, src, bytes);
}
void FourPages(uint8_t* dst, const uint8_t* src, size_t bytes) {
  memcpy(dst, src, bytes);
}
#endif

struct Direction {
  const char* name;
  void* dst;
  const void* src;
  aclrtMemcpyKind kind;
};

constexpr size_t kLargest = size_t{256} << 20;

void* DeviceBuffer() {
  void* buffer = nullptr;
  MUST(aclrtMalloc(&buffer, kLargest, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMemset(buffer, kLargest, 0x5a, kLargest));
  return buffer;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings = bench::Parse(argc, argv);
  bench::Start();
  uint8_t* raw_dst = bench::HugeBuffer(kLargest);
  uint8_t* raw_src = bench::HugeBuffer(kLargest);
  uint8_t* host = bench::HugeBuffer(kLargest);

  MUST(aclrtSetDevice(1));
  void* peer = DeviceBuffer();
  MUST(aclrtDeviceEnablePeerAccess(0, 0));
  MUST(aclrtSetDevice(0));
  MUST(aclrtDeviceEnablePeerAccess(1, 0));
  void* first = DeviceBuffer();
  void* second = DeviceBuffer();
  const Direction directions[] = {{"h2d", first, host, ACL_MEMCPY_HOST_TO_DEVICE},
                                  {"d2h", host, first, ACL_MEMCPY_DEVICE_TO_HOST},
                                  {"d2d", second, first, ACL_MEMCPY_DEVICE_TO_DEVICE},
                                  {"peer", peer, first, ACL_MEMCPY_DEVICE_TO_DEVICE}};

  constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;
  for (size_t bytes : {size_t{64}, 4 * kKiB, 64 * kKiB, kMiB, 4 * kMiB, 8 * kMiB, 16 * kMiB, 32 * kMiB,
                       64 * kMiB, 256 * kMiB}) {
    for (const Direction& way : directions) {
      std::string id = std::string("copy/") + way.name + "/" + std::to_string(bytes);
      if (!settings.Wants(id)) continue;
      auto raw = [&] { memcpy(raw_dst, raw_src, bytes), Escape(raw_dst); };
      auto api = [&] { MUST(aclrtMemcpy(way.dst, bytes, way.src, bytes, way.kind)); };
      // A program copies the same way for long: what the library learns from the first copies is part of the
      // figure.
      for (int i = 0; bytes >= 8 * kMiB && i < 40; ++i) api();
      double limit = 0;
      std::vector<std::vector<double>> times;
      if (bytes >= 16 * kMiB) {
        times = bench::Rounds(
            settings, raw, api, [&] { InOrder(raw_dst, raw_src, bytes), Escape(raw_dst); },
            [&] { FourPages(raw_dst, raw_src, bytes), Escape(raw_dst); });
        limit = std::max(bench::Median(bench::Ratios(times[0], times[2])),
                         bench::Median(bench::Ratios(times[0], times[3])));
      } else {
        times = bench::Rounds(settings, raw, api);
      }
      std::vector<double> ratios = bench::Ratios(times[0], times[1]);
      printf("{\"id\":\"%s\",\"ratio\":%.4f,\"low\":%.4f,\"limit\":%.4f,\"raw_ns\":%.1f,\"ns\":%.1f}\n",
             id.c_str(), bench::Median(ratios), bench::Quantile(ratios, 0.25), limit, bench::Median(times[0]),
             bench::Median(times[1]));
    }
  }
  MUST(aclFinalize());
}
