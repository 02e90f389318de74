CUDA_VISIBLE_DEVICES=0 swift sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --train_type lora \
    --dataset data.jsonl \
    --torch_dtype bf16 \
    --output_dir output
