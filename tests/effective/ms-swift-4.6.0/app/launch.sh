#!/bin/bash
swift app --model Qwen/Qwen2-VL-7B-Instruct --model_type qwen2_vl --template qwen2_vl --infer_backend pt --system 'You help.' --lang en --temperature 0.2
