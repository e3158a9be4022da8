#pragma once

/// One block of a kernel on the host: its threads take turns, each running until it reaches the block's barrier or its end. Blocks
/// of all kernels run one at a time.
namespace fake_hip {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

/// What a kernel's text knows by these names.
extern Index3 thread_index, block_index, block_extent, grid_extent;

/// Runs `thread(data)` once for each thread of each block of the grid.
void run_grid(const unsigned grid[3], const unsigned block[3], void (*thread)(void* data), void* data);

/// Returns once every thread of the block has called it; ends the program where only some do.
void barrier();

}  // namespace fake_hip
