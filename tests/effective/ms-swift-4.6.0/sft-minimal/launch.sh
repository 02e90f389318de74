#!/bin/bash
swift sft --model ./tiny --model_type qwen2 --template qwen2_5 --dataset data.jsonl
