#!/bin/bash
CUDA_VISIBLE_DEVICES=0 llamafactory-cli train --stage sft --do_eval --model_name_or_path Qwen/Qwen2.5-7B-Instruct \
    --eval_dataset d --dataset_dir data --template qwen --finetuning_type full --output_dir out --eval_num_beams 3 --neat_packing --cutoff_len 600 \
    --load_best_model_at_end --eval_strategy steps --logging_steps 25 --neftune_noise_alpha 5 --save_steps 25 --report_to tensorboard,wandb
