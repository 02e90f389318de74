#!/bin/bash
swift sft --model_type qwen2_5-7b-instruct --model_id_or_path ./tiny --dataset data.jsonl --dtype bf16
