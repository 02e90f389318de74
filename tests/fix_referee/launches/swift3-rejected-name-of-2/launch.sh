CUDA_VISIBLE_DEVICES=0 swift sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --sft_type lora \
    --dataset data.jsonl \
    --torch_dtype bfloat16 \
    --max_length 2048 \
    --output_dir output
