// The same program with such functions of its own (fake_libraries/fronting_shim.cpp).
#include "fronts.cpp"
