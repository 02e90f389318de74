MODEL=Qwen/Qwen2.5-7B-Instruct
BATCH=4
CUDA_VISIBLE_DEVICES=0 swift rlhf \
    --rlhf_type dpo \
    --model_type qwen2_5-7b-instruct \
    --model_id_or_path $MODEL \
    --sft_type lora \
    --dataset pref2.jsonl \
    --dtype bf16 \
    --batch_size $BATCH \
    --gradient_accumulation_steps 2 \
    --max_length 4096 \
    --output_dir output
