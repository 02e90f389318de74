#!/bin/bash
swift sft --model ./tiny --model_type qwen2_5 --dataset data.jsonl
