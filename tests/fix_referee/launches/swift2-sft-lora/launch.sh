CUDA_VISIBLE_DEVICES=0 \
swift sft \
    --model_type qwen2_5-7b-instruct \
    --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --sft_type lora \
    --dataset data.jsonl \
    --dtype bf16 \
    --batch_size 4 \
    --gradient_accumulation_steps 4 \
    --max_length 8192 \
    --output_dir output
