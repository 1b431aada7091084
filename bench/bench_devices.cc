// A small copy and its synchronise on each device in turn, beside as many on one device; for BELAY devices=N.
//
// Prints a line of JSON: factor = a task's time over all devices / over one, with the same calls.
#include "device_ring.h"
#include "measure.h"
#include "mutex_pair.h"

int main(int argc, char** argv) {
  bench::Settings settings = bench::Parse(argc, argv);
  bench::Start();
  bench::KeepASecondThread();
  bench::DeviceRing ring;
  const int count = ring.size();
  std::string id = "devices-" + std::to_string(count);
  if (!settings.Wants(id)) return 0;

  bench::MutexPairs pairs;
  auto one = [&] {
    for (int i = 0; i < count; ++i) ring.Task(0);
  };
  auto all = [&] {
    for (int i = 0; i < count; ++i) ring.Task(i);
  };
  int calls[3] = {1, 1, 1};
  auto times =
      bench::Interleave(settings, {[&] { return bench::Repeated(settings.round_ns, calls[0], pairs); },
                                   [&] { return bench::Repeated(settings.round_ns, calls[1], one); },
                                   [&] { return bench::Repeated(settings.round_ns, calls[2], all); }});
  std::vector<double> factors = bench::Ratios(times[2], times[1]);
  std::vector<double> in_pairs = bench::Ratios(times[2], times[0]);
  printf("{\"id\":\"%s\",\"factor\":%.3f,\"high\":%.3f,\"pairs\":%.2f,\"one_ns\":%.1f,\"ns\":%.1f}\n",
         id.c_str(), bench::Median(factors), bench::Quantile(factors, 0.75),
         bench::Median(in_pairs) * bench::MutexPairs::kBatch / count, bench::Median(times[1]) / count,
         bench::Median(times[2]) / count);
  MUST(aclFinalize());
}
