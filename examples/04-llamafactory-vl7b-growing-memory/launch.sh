#!/bin/bash
export RECORD_VRAM=1
FORCE_TORCHRUN=1 llamafactory-cli train train.yaml
