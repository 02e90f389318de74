#!/bin/bash
llamafactory-cli export --model_name_or_path Qwen/Qwen2.5-7B-Instruct --template qwen --finetuning_type lora \
    --export_dir out/merged --export_size 2 --export_legacy_format false
