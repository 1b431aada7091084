#include "machine/visibility.h"

#include <cstdint>
#include <string_view>

namespace belay::machine {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

struct Scan {
  std::vector<int> ids;
  size_t stop = 0;     // where the scan ended
  std::string reason;  // why it ended early
};

// Takes ids from the left until the first thing that is none.
Scan TakeIds(std::string_view text, int device_count) {
  Scan scan;
  size_t at = 0;
  while (true) {
    const size_t start = at;
    int64_t id = 0;
    // Saturates: what leaves int32 exists on no machine.
    for (; at < text.size() && IsDigit(text[at]); ++at) {
      if (id <= INT32_MAX) id = id * 10 + (text[at] - '0');
    }
    scan.stop = start;
    if (at == start) {
      if (at < text.size() && text[at] != ',') {
        scan.reason = "'" + std::string(1, text[at]) + "' is neither a digit nor a comma";
      } else {
        scan.reason = "an element is empty";
      }
      return scan;
    }
    if (id >= device_count) {
      scan.reason = "device " + std::string(text.substr(start, at - start)) + " does not exist: there are " +
                    std::to_string(device_count) + " devices";
      return scan;
    }
    scan.ids.push_back(static_cast<int>(id));
    scan.stop = at;
    if (at == text.size()) return scan;
    if (text[at] != ',') {
      scan.reason = "'" + std::string(1, text[at]) + "' is neither a digit nor a comma";
      return scan;
    }
    ++at;
  }
}

}  // namespace

Visibility ParseVisibility(const char* list, int device_count) {
  Visibility result;
  if (list == nullptr) {
    for (int id = 0; id < device_count; ++id) result.logical.push_back(id);
    return result;
  }
  const std::string_view text = list;
  if (text.empty()) {
    result.reason = "the list is empty";
    return result;
  }

  Scan scan = TakeIds(text, device_count);
  for (size_t i = 1; i < scan.ids.size(); ++i) {
    if (scan.ids[i] > scan.ids[i - 1]) continue;
    result.rejected = true;
    result.reason = "the ids must ascend, but " + std::to_string(scan.ids[i]) + " follows " +
                    std::to_string(scan.ids[i - 1]);
    result.dropped = text;
    return result;
  }
  result.logical = std::move(scan.ids);
  result.reason = std::move(scan.reason);
  result.dropped = text.substr(scan.stop);
  return result;
}

}  // namespace belay::machine
