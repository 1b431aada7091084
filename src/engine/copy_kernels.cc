#include "engine/copy_kernels.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/text.h"

namespace belay::engine {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

const char* const kClassNames[CopyTuning::kClasses] = {
    "copies below 16 MiB",           "copies of 16-32 MiB",           "copies of 32-64 MiB",
    "copies of 64-128 MiB",          "copies from 128 MiB",           "rows below 1 KiB into a pitch",
    "rows of 1-16 KiB into a pitch", "rows from 16 KiB into a pitch", "rows below 1 KiB packed",
    "rows of 1-16 KiB packed",       "rows from 16 KiB packed",
};

int LinearClass(size_t bytes) {
  if (bytes < 16 * kMiB) return 0;
  if (bytes < 32 * kMiB) return 1;
  if (bytes < 64 * kMiB) return 2;
  return bytes < 128 * kMiB ? 3 : 4;
}

int RowClass(const CopyShape& shape) {
  int width = shape.width < 1024 ? 0 : shape.width < 16 * 1024 ? 1 : 2;
  return CopyTuning::kLinearClasses + width + (shape.dst_pitch == shape.width ? 3 : 0);
}

bool Overlap(const CopyShape& s) {
  auto dst = reinterpret_cast<uintptr_t>(s.dst), src = reinterpret_cast<uintptr_t>(s.src);
  return dst < src + s.SrcExtent() && src < dst + s.DstExtent();
}

void MoveRow(const CopyShape& s, size_t row) {
  memmove(s.dst + row * s.dst_pitch, s.src + row * s.src_pitch, s.width);
}

// SPEC 31 §0.4.6: as if through a temporary buffer.
void CopyOverlapping(const CopyShape& s) {
  if (s.dst_pitch == s.src_pitch) {
    // A row of the destination then reaches only into source rows on the side that is already done.
    if (s.dst > s.src) {
      for (size_t row = s.height; row-- > 0;) MoveRow(s, row);
    } else {
      for (size_t row = 0; row < s.height; ++row) MoveRow(s, row);
    }
    return;
  }
  std::unique_ptr<uint8_t[]> buffer(new (std::nothrow) uint8_t[s.Bytes()]);
  if (buffer == nullptr) {
    for (size_t row = 0; row < s.height; ++row) MoveRow(s, row);
    return;
  }
  CopyRows(CopyLoop::kCached, {buffer.get(), s.src, s.width, s.src_pitch, s.width, s.height});
  CopyRows(CopyLoop::kCached, {s.dst, buffer.get(), s.dst_pitch, s.width, s.width, s.height});
}

void RunLoop(CopyLoop loop, const CopyShape& s) {
  if (s.linear()) {
    CopyLinear(loop, s.dst, s.src, s.Bytes());
  } else {
    CopyRows(loop, s);
  }
}

double TimeLoop(CopyLoop loop, const CopyShape& s) {
  auto start = std::chrono::steady_clock::now();
  RunLoop(loop, s);
  std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(s.Bytes());
}

// Pieces [index * units, ...) of a shape whose units are bytes of its one row, or rows.
CopyShape Piece(const CopyShape& s, size_t first, size_t units) {
  if (!s.linear()) return s.RowRange(first, std::min(units, s.height - first));
  return CopyShape::Linear(s.dst + first, s.src + first, std::min(units, s.Bytes() - first));
}

CopyKernels& ProcessKernels() {
  static CopyKernels kernels(CopyLimits::Detect());
  return kernels;
}

// Never smaller than the real limit by more than a trial is worth: below this no copy asks what the machine
// has.
constexpr size_t kSurelySmall = 8 * kMiB;

// Up to here copies are made of pieces: with more of them microcode is as fast.
constexpr size_t kMostInPieces = 4 * kVectorPiece;

}  // namespace

CopyLimits CopyLimits::Detect() {
  CopyLimits limits;
  int best_level = 0;
  for (int index = 0; index < 16; ++index) {
    auto read = [index](const char* name, char(&into)[32]) {
      Text<128> path;
      path.Format("/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
      FILE* file = fopen(path.c_str(), "re");
      if (file == nullptr) return false;
      bool got = fgets(into, sizeof into, file) != nullptr;
      fclose(file);
      return got;
    };
    char level[32], type[32], size[32];
    if (!read("level", level) || !read("type", type) || !read("size", size)) break;
    if (strncmp(type, "Instruction", 11) == 0 || atoi(level) <= best_level) continue;
    char* unit = nullptr;
    size_t bytes = strtoull(size, &unit, 10);
    if (*unit == 'K') bytes <<= 10;
    if (*unit == 'M') bytes <<= 20;
    best_level = atoi(level);
    limits.last_level_cache = bytes;
  }
  if (limits.last_level_cache > 0)
    limits.big_copy = std::clamp(limits.last_level_cache / 2, kSurelySmall, 16 * kMiB);
  return limits;
}

void CopyKernels::Copy(const CopyShape& part, size_t whole_bytes) {
  if (part.empty()) return;
  if (part.linear()) {
    // libc's memmove is its memcpy here, so overlap costs no test of its own.
    if (whole_bytes < limits_.big_copy || Overlap(CopyShape::Linear(part.dst, part.src, part.Bytes()))) {
      memmove(part.dst, part.src, part.Bytes());
    } else {
      CopyBig(trials_[LinearClass(whole_bytes)], part);
    }
    return;
  }
  if (Overlap(part)) {
    CopyOverlapping(part);
  } else if (whole_bytes < limits_.big_copy || part.width < limits_.big_row || !StreamableRows(part)) {
    CopyRows(CopyLoop::kCached, part);
  } else {
    CopyBig(trials_[RowClass(part)], part);
  }
}

void CopyKernels::CopyBig(CopyTrial& trial, const CopyShape& shape) {
  if (!HasNonTemporalLoops()) return RunLoop(CopyLoop::kCached, shape);
  if (shape.Bytes() < limits_.piece || !trial.TryEnter()) return RunLoop(trial.choice(), shape);
  if (trial.stage() == CopyTrial::Stage::kWholes) {
    trial.Sample(TimeLoop(trial.Next(), shape));
  } else {
    size_t end = shape.linear() ? shape.Bytes() : shape.height;
    size_t units = shape.linear() ? limits_.piece : std::max<size_t>(1, limits_.piece / shape.width);
    for (size_t first = 0; first < end; first += units) {
      CopyShape piece = Piece(shape, first, units);
      bool full = (shape.linear() ? piece.Bytes() : piece.height) == units;
      if (full && trial.stage() == CopyTrial::Stage::kPieces) {
        trial.Sample(TimeLoop(trial.Next(), piece));
      } else {
        RunLoop(trial.Next(), piece);
      }
    }
  }
  trial.Leave();
}

CopyTuning CopyKernels::tuning() const {
  CopyTuning tuning;
  tuning.limits = limits_;
  for (int i = 0; i < CopyTuning::kClasses; ++i) {
    const CopyTrial& trial = trials_[i];
    tuning.classes[static_cast<size_t>(i)] = {kClassNames[i], trial.settled_once(), trial.choice(),
                                              trial.gain()};
  }
  return tuning;
}

std::string CopyTuning::ToString() const {
  static const char* const kLoops[kCopyLoops] = {"libc", "streaming stores",
                                                 "streaming stores to four pages in turn"};
  Text<2048> text;
  text.Format("last-level cache %zu KiB; copies from %zu KiB are measured, smaller ones use libc\n",
              limits.last_level_cache >> 10, limits.big_copy >> 10);
  if (!HasNonTemporalLoops()) text.Append("no streaming stores on this architecture: libc for all\n");
  for (const CopyFinding& found : classes) {
    if (!found.tried) continue;
    text.Format("%s: %s (the best other loop is %.2f times as fast as libc)\n", found.what,
                kLoops[static_cast<int>(found.loop)], static_cast<double>(found.gain));
  }
  return std::string(text.view());
}

void CopyBytes(const CopyShape& shape) {
  CopyBytes(shape, shape.Bytes());
}

void CopyBytes(const CopyShape& part, size_t whole_bytes) {
  if (part.height == 1 && whole_bytes < kSurelySmall) {
    memmove(part.dst, part.src, part.width);
    return;
  }
  ProcessKernels().Copy(part, whole_bytes);
}

void CopyApartInPieces(uint8_t* dst, const uint8_t* src, size_t bytes) {
  if (bytes > kMostInPieces) return CopyBytes(CopyShape::Linear(dst, src, bytes));
  // Not memcpy: a known length would let the compiler write `rep movs` here.
  for (; bytes > kVectorPiece; dst += kVectorPiece, src += kVectorPiece, bytes -= kVectorPiece) {
    memmove(dst, src, kVectorPiece);
  }
  memmove(dst, src, bytes);
}

void FillBytes(uint8_t* dst, int value, size_t bytes) {
  memset(dst, value, bytes);
}

CopyTuning CurrentCopyTuning() {
  return ProcessKernels().tuning();
}

}  // namespace belay::engine
