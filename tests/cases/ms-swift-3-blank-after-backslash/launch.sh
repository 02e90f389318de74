swift sft \
    --model ./tiny \ 
    --model_type qwen2_5 \
    --train_type lora \
    --dataset data.jsonl \
    --max_steps 3
