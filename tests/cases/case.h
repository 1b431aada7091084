#pragma once
// What the case programs share. A case goes through a sequence that troubled a real user and checks the
// codes; what the finding must say is checked from outside, by check.py.

#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

inline int g_failures = 0;

#define EXPECT_CODE(expected, call)                                                     \
  do {                                                                                  \
    const aclError code_ = (call);                                                      \
    if (code_ != (expected)) {                                                          \
      std::printf("%s:%d: %s gave %d, expected %d\n", __FILE__, __LINE__, #call, code_, \
                  static_cast<int>(expected));                                          \
      ++g_failures;                                                                     \
    }                                                                                   \
  } while (0)
#define EXPECT_OK(call) EXPECT_CODE(ACL_SUCCESS, call)
#define EXPECT_TRUE(condition)                                             \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      ++g_failures;                                                        \
    }                                                                      \
  } while (0)

inline int Result() {
  return g_failures == 0 ? 0 : 1;
}
