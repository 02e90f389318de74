swift sft --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dataset data.jsonl \
    --sft_type lora --dtype bf16 --quantization_bit 4 --bnb_4bit_comp_dtype AUTO \
    --lora_target_modules q_proj v_proj --lora_dropout_p 0.1 --lora_bias_trainable none \
    --neftune_alpha 5 --init_lora_weights true --output_dir out
