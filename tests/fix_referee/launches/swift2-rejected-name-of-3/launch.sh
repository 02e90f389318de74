CUDA_VISIBLE_DEVICES=0 swift sft \
    --model_type qwen2_5-7b-instruct \
    --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --train_type lora \
    --dataset data.jsonl \
    --dtype bf16 \
    --per_device_train_batch_size 1 \
    --output_dir output
