// fails: \[-Werror=unused-result\]|\[-Werror,-Wunused-result\]
#include "elbowroom/base/result.hpp"

using namespace elbowroom;

Status check() { return {}; }

#ifdef CONTROL
int main() { return check().ok() ? 0 : 1; }
#else
int main() { check(); }
#endif
