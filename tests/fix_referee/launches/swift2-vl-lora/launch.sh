MAX_PIXELS=2408448 CUDA_VISIBLE_DEVICES=0 swift sft \
    --model_type qwen2-vl-7b-instruct \
    --model_id_or_path Qwen/Qwen2-VL-7B-Instruct \
    --sft_type lora \
    --dataset data.jsonl \
    --dtype bf16 \
    --batch_size 2 \
    --gradient_accumulation_steps 8 \
    --max_length 8192 \
    --output_dir output
