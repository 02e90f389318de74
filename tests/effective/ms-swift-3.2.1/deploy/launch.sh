#!/bin/bash
swift deploy --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --infer_backend pt --port 9000 --served_model_name qwen --max_new_tokens 2048
