export OMP_NUM_THREADS=1
timeout 900 ~/.cache/elbowroom/2.11.0/bin/python -B examples/pytorch/launch.py -n 2 examples/programs/dtensor_tp.py --layers 2 --hidden 64 --ffn 128 --tokens 32 --device cpu --steps 2 --warm-up 2 >/tmp/dtensor.out 2>&1; echo rc $? >> /tmp/dtensor.out
