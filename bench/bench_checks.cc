// An asynchronous copy from or to pinned memory and the wait for it, for a value of the option `check`.
//
// Prints a line of JSON for each: the median time of a pair of calls. bench/run.py compares the values.
#include "measure.h"
#include "mutex_pair.h"

int main(int argc, char** argv) {
  bench::Settings settings = bench::Parse(argc, argv);
  bench::Start();
  bench::KeepASecondThread();
  constexpr size_t kMost = size_t{4} << 20;
  void *device = nullptr, *pinned = nullptr;
  aclrtStream stream = nullptr;
  MUST(aclrtMalloc(&device, kMost, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMallocHost(&pinned, kMost));
  MUST(aclrtMemset(device, kMost, 1, kMost));
  memset(pinned, 1, kMost);
  MUST(aclrtCreateStream(&stream));

  bench::MutexPairs pairs;
  for (size_t bytes : {size_t{64}, size_t{4} << 10, size_t{64} << 10, size_t{1} << 20, kMost}) {
    for (bool up : {true, false}) {
      const std::string id = std::string("checks/") + (up ? "h2d/" : "d2h/") + std::to_string(bytes);
      if (!settings.Wants(id)) continue;
      auto copy = [&] {
        if (up) {
          MUST(aclrtMemcpyAsync(device, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        } else {
          MUST(aclrtMemcpyAsync(pinned, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        }
        MUST(aclrtSynchronizeStream(stream));
      };
      auto times = bench::Rounds(settings, pairs, copy);
      printf("{\"id\":\"%s\",\"bytes\":%zu,\"ns\":%.1f}\n", id.c_str(), bytes, bench::Median(times[1]));
    }
  }
  MUST(aclrtDestroyStream(stream));
  MUST(aclFinalize());
}
