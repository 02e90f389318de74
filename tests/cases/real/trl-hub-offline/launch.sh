#!/bin/bash
export HF_HUB_OFFLINE=1
python train.py
