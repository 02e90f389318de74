#!/bin/bash
CUDA_VISIBLE_DEVICES=0 llamafactory-cli train train.yaml
