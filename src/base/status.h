// The result of a call inside Belay: an AscendCL return code, or a value.
//
// A Status says only that something was refused and with which documented code. What to tell the user about
// it is a Finding (check/finding.h), made where the API call is known.
#pragma once

#include <cstdint>
#include <tl/expected.hpp>

namespace belay {

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr explicit Status(int32_t code) : code_(code) {}
  constexpr bool ok() const { return code_ == 0; }
  constexpr int32_t code() const { return code_; }
  friend constexpr bool operator==(Status, Status) = default;

 private:
  int32_t code_ = 0;
};

template <class T>
using Expected = tl::expected<T, Status>;

inline tl::unexpected<Status> Fail(Status status) {
  return tl::unexpected<Status>(status);
}

}  // namespace belay

// Leaves the function with the status of EXPR unless it is ok.
#define BELAY_TRY(EXPR)                                         \
  do {                                                          \
    if (::belay::Status try_ = (EXPR); !try_.ok()) return try_; \
  } while (0)
