#include "interposer/hip/interposer.hpp"

#include "interposer/driver/make_interposer.hpp"

template elbowroom::interposer::hip::Interposer* elbowroom::interposer::driver::interposer<elbowroom::interposer::hip::Driver>();
