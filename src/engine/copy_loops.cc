#include "engine/copy_loops.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#define BELAY_NON_TEMPORAL 1
#else
#define BELAY_NON_TEMPORAL 0
#endif

// The sanitizers do not see a non-temporal store; a plain store keeps the addresses of these loops under
// their eye.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BELAY_SEEN_STORES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define BELAY_SEEN_STORES 1
#endif
#endif

namespace belay::engine {
namespace {

// Shapes come by value: a byte that is stored might otherwise change a shape, which would be read again for
// each row.

// One row of any width in [W, 2 * W]: two moves that meet or overlap, with no call.
template <size_t W>
void RowsUpToTwice(CopyShape s) {
  size_t second = s.width - W;
  for (size_t r = 0; r < s.height; ++r) {
    uint8_t* dst = s.dst + r * s.dst_pitch;
    const uint8_t* src = s.src + r * s.src_pitch;
    memcpy(dst, src, W);
    memcpy(dst + second, src + second, W);
  }
}

template <size_t W>
void FixedRows(CopyShape s) {
  for (size_t r = 0; r < s.height; ++r) memcpy(s.dst + r * s.dst_pitch, s.src + r * s.src_pitch, W);
}

void CachedRows(CopyShape s) {
  switch (s.width) {
    case 1:
      return FixedRows<1>(s);
    case 2:
      return FixedRows<2>(s);
    case 4:
      return FixedRows<4>(s);
    case 8:
      return FixedRows<8>(s);
    case 16:
      return FixedRows<16>(s);
    case 32:
      return FixedRows<32>(s);
    case 64:
      return FixedRows<64>(s);
    case 128:
      return FixedRows<128>(s);
    default:
      break;
  }
  if (s.width < 4) return RowsUpToTwice<2>(s);
  if (s.width < 8) return RowsUpToTwice<4>(s);
  if (s.width < 16) return RowsUpToTwice<8>(s);
  if (s.width < 32) return RowsUpToTwice<16>(s);
  if (s.width < 64) return RowsUpToTwice<32>(s);
  for (size_t r = 0; r < s.height; ++r) memcpy(s.dst + r * s.dst_pitch, s.src + r * s.src_pitch, s.width);
}

#if BELAY_NON_TEMPORAL

constexpr size_t kLine = 64;
constexpr size_t kPage = 4096;
constexpr size_t kPages = 4;  // pages in turn
constexpr size_t kPrefetchAhead = 512;

inline void Store(uint8_t* dst, __m128i value) {
#ifdef BELAY_SEEN_STORES
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), value);
#else
  _mm_stream_si128(reinterpret_cast<__m128i*>(dst), value);
#endif
}

inline void Line(uint8_t* dst, const uint8_t* src) {
  const auto* from = reinterpret_cast<const __m128i*>(src);
  __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
  __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
  Store(dst, a), Store(dst + 16, b), Store(dst + 32, c), Store(dst + 48, d);
}

inline void PrefetchPastCache(const uint8_t* src) {
  _mm_prefetch(reinterpret_cast<const char*>(src), _MM_HINT_NTA);
}

// Whole lines only; returns the bytes done.
size_t StreamLines(uint8_t* dst, const uint8_t* src, size_t bytes) {
  size_t at = 0;
  for (; at + kLine <= bytes; at += kLine) {
    PrefetchPastCache(src + at + kPrefetchAhead);
    Line(dst + at, src + at);
  }
  return at;
}

// Whole blocks of four pages only; returns the bytes done.
size_t InterleaveBlocks(uint8_t* dst, const uint8_t* src, size_t bytes) {
  size_t at = 0;
  for (; at + kPages * kPage <= bytes; at += kPages * kPage) {
    for (size_t line = at; line < at + kPage; line += kLine) {
      for (size_t page = 0; page < kPages; ++page) Line(dst + line + page * kPage, src + line + page * kPage);
    }
  }
  return at;
}

void NonTemporalLinear(CopyLoop loop, uint8_t* dst, const uint8_t* src, size_t bytes) {
  size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(dst) % kLine);
  memcpy(dst, src, head);
  dst += head, src += head, bytes -= head;
  size_t done = loop == CopyLoop::kStream ? StreamLines(dst, src, bytes) : InterleaveBlocks(dst, src, bytes);
  _mm_sfence();
  memcpy(dst + done, src + done, bytes - done);
}

void StreamRows(CopyShape s) {
  for (size_t r = 0; r < s.height; ++r) {
    uint8_t* dst = s.dst + r * s.dst_pitch;
    const uint8_t* src = s.src + r * s.src_pitch;
    size_t done = StreamLines(dst, src, s.width);
    memcpy(dst + done, src + done, s.width - done);
  }
}

// Four groups of rows in turn, each about a page long.
void InterleaveRows(CopyShape s) {
  size_t group = std::max<size_t>(1, kPage / std::max(s.dst_pitch, s.src_pitch));
  size_t lines = s.width / kLine * kLine;
  size_t first = 0;
  for (; first + kPages * group <= s.height; first += kPages * group) {
    for (size_t row = first; row < first + group; ++row) {
      uint8_t* dst = s.dst + row * s.dst_pitch;
      const uint8_t* src = s.src + row * s.src_pitch;
      size_t dst_step = group * s.dst_pitch, src_step = group * s.src_pitch;
      for (size_t at = 0; at < lines; at += kLine) {
        for (size_t page = 0; page < kPages; ++page)
          Line(dst + page * dst_step + at, src + page * src_step + at);
      }
      if (lines == s.width) continue;
      for (size_t page = 0; page < kPages; ++page) {
        memcpy(dst + page * dst_step + lines, src + page * src_step + lines, s.width - lines);
      }
    }
  }
  StreamRows(s.RowRange(first, s.height - first));
}

#endif

}  // namespace

bool HasNonTemporalLoops() {
  return BELAY_NON_TEMPORAL != 0;
}

void CopyLinear(CopyLoop loop, uint8_t* dst, const uint8_t* src, size_t bytes) {
#if BELAY_NON_TEMPORAL
  if (loop != CopyLoop::kCached) return NonTemporalLinear(loop, dst, src, bytes);
#endif
  static_cast<void>(loop);
  memcpy(dst, src, bytes);
}

void CopyRows(CopyLoop loop, const CopyShape& shape) {
#if BELAY_NON_TEMPORAL
  if (loop != CopyLoop::kCached) {
    loop == CopyLoop::kStream ? StreamRows(shape) : InterleaveRows(shape);
    _mm_sfence();
    return;
  }
#endif
  static_cast<void>(loop);
  CachedRows(shape);
}

bool StreamableRows(const CopyShape& shape) {
  return (reinterpret_cast<uintptr_t>(shape.dst) % 16 | shape.dst_pitch % 16) == 0;
}

}  // namespace belay::engine
