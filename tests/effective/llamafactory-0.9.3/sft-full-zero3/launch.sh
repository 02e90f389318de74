#!/bin/bash
FORCE_TORCHRUN=1 NPROC_PER_NODE=2 llamafactory-cli train train.yaml
