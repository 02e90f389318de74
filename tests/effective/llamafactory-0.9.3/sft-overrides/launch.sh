#!/bin/bash
FORCE_TORCHRUN=1 NPROC_PER_NODE=2 llamafactory-cli train train.yaml learning_rate=5e-5 lora_target=q_proj,v_proj bf16=true logging_dir=logs
