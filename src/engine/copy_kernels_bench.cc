// Each copy loop against libc, on huge pages, and what the trials chose: the table of docs/design/copies.md.
#include <string>

#include "engine/copy_kernels.h"
#include "measure.h"

int main(int argc, char** argv) {
  using namespace belay::engine;
  bench::Settings settings = bench::Parse(argc, argv);
  constexpr size_t kMiB = size_t{1} << 20;
  uint8_t* dst = bench::HugeBuffer(256 * kMiB);
  uint8_t* src = bench::HugeBuffer(256 * kMiB);
  printf("%-24s %9s %8s %11s %8s\n", "shape", "libc GB/s", "stream", "interleave", "chosen");
  auto compare = [&](const std::string& id, const CopyShape& s) {
    if (!settings.Wants(id)) return;
    auto run = [&](CopyLoop loop) {
      s.linear() ? CopyLinear(loop, s.dst, s.src, s.Bytes()) : CopyRows(loop, s);
      bench::Escape(dst);
    };
    auto libc = [&] {
      for (size_t row = 0; row < s.height; ++row)
        memcpy(s.dst + row * s.dst_pitch, s.src + row * s.src_pitch, s.width);
      bench::Escape(dst);
    };
    for (int i = 0; i < 40; ++i) CopyBytes(s);
    auto times = bench::Rounds(
        settings, libc, [&] { run(CopyLoop::kStream); }, [&] { run(CopyLoop::kInterleave); },
        [&] { CopyBytes(s), bench::Escape(dst); });
    auto gain = [&](size_t k) { return bench::Median(bench::Ratios(times[0], times[k])); };
    printf("%-24s %9.2f %7.2fx %10.2fx %7.2fx\n", id.c_str(),
           static_cast<double>(s.Bytes()) / bench::Median(times[0]), gain(1), gain(2), gain(3));
  };
  for (size_t mib : {4, 8, 16, 32, 64, 128, 256}) {
    compare("linear " + std::to_string(mib) + " MiB", CopyShape::Linear(dst, src, mib * kMiB));
  }
  for (size_t width : {64, 128, 256, 1024, 4096, 65536}) {
    size_t height = 64 * kMiB / width;
    compare("strided " + std::to_string(width),
            *CopyShape::Rows(dst, 2 * width, src, 2 * width, width, height));
    compare("packed " + std::to_string(width), *CopyShape::Rows(dst, width, src, 2 * width, width, height));
  }
  fputs(CurrentCopyTuning().ToString().c_str(), stdout);
}
