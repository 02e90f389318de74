#!/bin/bash
swift deploy --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --infer_backend vllm --port 9000 --served_model_name qwen --max_new_tokens 2048 --vllm_max_model_len 8192
