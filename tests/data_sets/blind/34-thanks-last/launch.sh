#!/usr/bin/env bash
set -e
CUDA_VISIBLE_DEVICES= llamafactory-cli train train.yaml
