#include "interposer/cuda/interposer.hpp"

#include "interposer/driver/make_interposer.hpp"

template elbowroom::interposer::cuda::Interposer* elbowroom::interposer::driver::interposer<elbowroom::interposer::cuda::Driver>();
