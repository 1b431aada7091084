/* Contains the absolute path of a library that is not ours. */
#include <stdio.h>
static const char kPath[] = "/opt/elsewhere/lib64/libascendcl.so";
int main(void) {
  return puts(kPath) < 0;
}
