#!/bin/bash
torchrun --nnodes 2 --nproc_per_node 1 --rdzv_backend c10d --rdzv_endpoint localhost:29561 --rdzv_conf join_timeout=40 train.py
