CUDA_VISIBLE_DEVICES=0,1 \
NPROC_PER_NODE=2 \
swift rlhf \
    --rlhf_type grpo \
    --model Qwen/Qwen2.5-7B-Instruct \
    --use_vllm false \
    --reward_funcs format \
    --train_type lora \
    --torch_dtype bfloat16 \
    --dataset math.jsonl \
    --max_length 2048 \
    --max_completion_length 2048 \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 2 \
    --num_generations 8 \
    --output_dir output
