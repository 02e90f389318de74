CUDA_VISIBLE_DEVICES=0 swift rlhf --rlhf_type dpo \
    --model Qwen/Qwen2.5-7B-Instruct --tuner_type lora \
    --dataset pref.jsonl --torch_dtype bfloat16 \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 8 \
    --max_length 4096 --output_dir output
