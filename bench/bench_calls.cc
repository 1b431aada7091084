// What calls cost, in uncontended pthread mutex lock+unlock pairs of the same rounds.
//
// Prints a line of JSON for each: pairs = the call's time / that of a pair (less is better), high = upper
// quartile.
#include "measure.h"
#include "mutex_pair.h"

namespace {

class Calls {
 public:
  explicit Calls(const bench::Settings& settings) : settings_(settings) {}

  template <class F>
  void Measure(const std::string& id, F call) {
    if (!settings_.Wants(id)) return;
    auto batch = [&] {
      for (int i = 0; i < 10; ++i) call();
    };
    auto times = bench::Rounds(settings_, pairs_, batch);
    std::vector<double> pairs = bench::Ratios(times[1], times[0]);
    for (double& value : pairs) value *= bench::MutexPairs::kBatch / 10.0;
    printf("{\"id\":\"%s\",\"pairs\":%.3f,\"high\":%.3f,\"pair_ns\":%.2f,\"ns\":%.1f}\n", id.c_str(),
           bench::Median(pairs), bench::Quantile(pairs, 0.75),
           bench::Median(times[0]) / bench::MutexPairs::kBatch, bench::Median(times[1]) / 10);
  }

 private:
  const bench::Settings settings_;
  bench::MutexPairs pairs_;
};

}  // namespace

int main(int argc, char** argv) {
  Calls calls(bench::Parse(argc, argv));
  bench::Start();
  bench::KeepASecondThread();
  constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;

  void *device = nullptr, *other = nullptr, *pinned = nullptr;
  MUST(aclrtMalloc(&device, 4 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMalloc(&other, 4 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMallocHost(&pinned, 4 * kMiB));
  MUST(aclrtMemset(device, 4 * kMiB, 1, 4 * kMiB));
  memset(pinned, 1, 4 * kMiB);

  for (size_t bytes : {size_t{64}, 4 * kKiB, 64 * kKiB, kMiB}) {
    std::string size = std::to_string(bytes);
    calls.Measure("memcpy/h2d/" + size,
                  [&] { MUST(aclrtMemcpy(device, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE)); });
    calls.Measure("memcpy/d2h/" + size,
                  [&] { MUST(aclrtMemcpy(pinned, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST)); });
    calls.Measure("memcpy/d2d/" + size,
                  [&] { MUST(aclrtMemcpy(other, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE)); });
  }
  for (size_t width : {4, 64, 256}) {
    size_t height = 16 * kKiB / width;
    calls.Measure("memcpy2d/h2d/" + std::to_string(width), [&] {
      MUST(aclrtMemcpy2d(device, 2 * width, pinned, 2 * width, width, height, ACL_MEMCPY_HOST_TO_DEVICE));
    });
  }
  for (size_t bytes : {4 * kKiB, 64 * kKiB, kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB}) {
    calls.Measure("malloc+free/" + std::to_string(bytes), [&] {
      void* block = nullptr;
      MUST(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
      MUST(aclrtFree(block));
    });
  }
  calls.Measure("getdevice", [] {
    int32_t id = 0;
    MUST(aclrtGetDevice(&id));
  });

  aclrtStream stream = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
  MUST(aclrtCreateStream(&stream));
  MUST(aclrtCreateStream(&second));
  MUST(aclrtCreateEvent(&event));
  auto async_copy = [&] {
    MUST(aclrtMemcpyAsync(device, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  };
  calls.Measure("async/enqueue/64", async_copy);
  MUST(aclrtSynchronizeStream(stream));
  calls.Measure("async/copy+sync/64", [&] { async_copy(), MUST(aclrtSynchronizeStream(stream)); });
  calls.Measure("event/record+sync",
                [&] { MUST(aclrtRecordEvent(event, stream)), MUST(aclrtSynchronizeEvent(event)); });
  calls.Measure("event/hop", [&] {
    MUST(aclrtRecordEvent(event, stream));
    MUST(aclrtStreamWaitEvent(second, event));
    MUST(aclrtSynchronizeStream(second));
  });

  MUST(aclrtDestroyEvent(event));
  MUST(aclrtDestroyStream(second));
  MUST(aclrtDestroyStream(stream));
  MUST(aclFinalize());
}
