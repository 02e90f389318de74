#!/bin/bash
swift infer --model_type qwen2_5-7b-instruct --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --infer_backend pt --max_new_tokens 512 --temperature 0.1 --dtype bf16
