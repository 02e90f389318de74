#!/bin/bash
swift rollout --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --vllm_tensor_parallel_size 2 --vllm_data_parallel_size 2 --vllm_gpu_memory_utilization 0.85
