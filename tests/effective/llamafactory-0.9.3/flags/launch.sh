#!/bin/bash
CUDA_VISIBLE_DEVICES=0 llamafactory-cli train \
    --stage dpo --pref_loss orpo --do_train \
    --model_name_or_path Qwen/Qwen2.5-7B-Instruct \
    --dataset d --dataset_dir data --template qwen \
    --finetuning_type lora --lora_target q_proj,v_proj \
    --output_dir out --overwrite_cache --overwrite_output_dir \
    --per_device_train_batch_size 4 --gradient_acc 4 --lr_scheduler_type cosine \
    --logging-steps=10 --save_steps 1000 --learning_rate 5e-5 --num_train_epochs 3.0 --plot_loss --fp16
