// C26: aclInit with a file that is missing, with one that is no JSON, twice, and again with another file.
#include <unistd.h>

#include <fstream>
#include <string>

#include "case.h"

int main() {
  EXPECT_CODE(ACL_ERROR_INVALID_FILE, aclInit("/nowhere/acl.json"));
  const std::string path = "/tmp/belay-c26-" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << "{\n  \"err_msg_mode\": \"0\",\n  \"dump\": }\n";
  EXPECT_CODE(ACL_ERROR_PARSE_FILE, aclInit(path.c_str()));
  EXPECT_OK(aclInit(nullptr));
  EXPECT_CODE(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  std::ofstream(path) << "{\"err_msg_mode\": \"1\"}";
  EXPECT_CODE(ACL_ERROR_REPEAT_INITIALIZE, aclInit(path.c_str()));
  unlink(path.c_str());
  EXPECT_OK(aclFinalize());
  return Result();
}
