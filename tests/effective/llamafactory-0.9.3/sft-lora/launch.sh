#!/bin/bash
CUDA_VISIBLE_DEVICES=0 FORCE_TORCHRUN=1 llamafactory-cli train train.yaml
