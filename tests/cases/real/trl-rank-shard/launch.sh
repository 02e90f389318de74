#!/bin/bash
torchrun --nproc_per_node 2 --master_port 29571 train.py
