// fails: cannot convert .*Result|no viable conversion from .*Result
#include "headroom/base/result.hpp"

using namespace headroom;

Result<int> answer() { return 42; }

#ifdef CONTROL
int main() {
  const Result<int> result = answer();
  const int value = result ? *result : 0;
  return value;
}
#else
int main() {
  const int value = answer();
  return value;
}
#endif
