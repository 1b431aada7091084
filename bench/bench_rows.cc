// aclrtMemcpy2d against a memcpy for each row with a width that only run time knows.
//
//   hot      128 KiB of payload, both pitches twice the width
//   strided  64 MiB (8 MiB for rows under 64 B) of payload from DRAM, both pitches twice the width
//   unpack   the same without a gap in the source; pack: without a gap in the destination
//
// Prints a line of JSON for each: ratio = the row loop's time / ours (more is better), low = lower quartile.
#include "measure.h"

namespace {

// Not inlined, so that the width stays unknown.
__attribute__((noinline)) void RawRows(uint8_t* dst, size_t dpitch, const uint8_t* src, size_t spitch,
                                       size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) memcpy(dst + row * dpitch, src + row * spitch, width);
}

struct Layout {
  const char* name;
  size_t dst_gap, src_gap;  // in widths
  bool hot;
};

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings = bench::Parse(argc, argv);
  bench::Start();
  constexpr size_t kMiB = size_t{1} << 20;
  constexpr size_t kRoom = 128 * kMiB;
  uint8_t* raw_dst = bench::HugeBuffer(kRoom);
  uint8_t* raw_src = bench::HugeBuffer(kRoom);
  uint8_t* host = bench::HugeBuffer(kRoom);
  void* device = nullptr;
  MUST(aclrtMalloc(&device, kRoom, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMemset(device, kRoom, 0x5a, kRoom));

  const Layout layouts[] = {
      {"hot", 1, 1, true}, {"strided", 1, 1, false}, {"unpack", 1, 0, false}, {"pack", 0, 1, false}};
  for (const Layout& layout : layouts) {
    for (size_t width : {4, 16, 64, 128, 256, 1024, 4096, 65536}) {
      for (bool up : {true, false}) {
        std::string id =
            std::string("rows/") + layout.name + (up ? "/h2d/" : "/d2h/") + std::to_string(width);
        if (!settings.Wants(id) || (!up && !layout.hot)) continue;
        size_t payload = layout.hot ? 128 * 1024 : width < 64 ? 8 * kMiB : 64 * kMiB;
        size_t height = payload / width;
        size_t dpitch = width * (1 + layout.dst_gap), spitch = width * (1 + layout.src_gap);
        void* dst = up ? device : host;
        const void* src = up ? host : device;
        aclrtMemcpyKind kind = up ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
        auto raw = [&] { RawRows(raw_dst, dpitch, raw_src, spitch, width, height), bench::Escape(raw_dst); };
        auto api = [&] { MUST(aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, kind)); };
        for (int i = 0; !layout.hot && i < 20; ++i) api();
        auto times = bench::Rounds(settings, raw, api);
        std::vector<double> ratios = bench::Ratios(times[0], times[1]);
        printf("{\"id\":\"%s\",\"ratio\":%.4f,\"low\":%.4f,\"raw_ns\":%.1f,\"ns\":%.1f}\n", id.c_str(),
               bench::Median(ratios), bench::Quantile(ratios, 0.25), bench::Median(times[0]),
               bench::Median(times[1]));
      }
    }
  }
  MUST(aclFinalize());
}
