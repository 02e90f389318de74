#!/usr/bin/env bash
set -e
CUDA_VISIBLE_DEVICES= python train.py
