#!/bin/bash
swift deploy --model_type qwen2_5-7b-instruct --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --infer_backend pt --port 9000 --dtype bf16
