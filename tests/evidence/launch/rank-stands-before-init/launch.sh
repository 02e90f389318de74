#!/bin/bash
export OMP_NUM_THREADS=1 TORCH_FR_BUFFER_SIZE=2000
torchrun --nproc-per-node 3 --tee 3 --log-dir logs train.py > train.log 2>&1
