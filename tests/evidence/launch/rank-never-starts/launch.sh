#!/bin/bash
export OMP_NUM_THREADS=1 TORCH_FR_BUFFER_SIZE=2000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=46151 WORLD_SIZE=4
mkdir -p logs
for RANK in 0 1 2; do
  export RANK LOCAL_RANK=$RANK
  python train.py > logs/rank$RANK.log 2>&1 &
done
wait
