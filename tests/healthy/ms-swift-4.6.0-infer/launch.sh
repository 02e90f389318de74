swift infer \
    --adapters out/lora/checkpoint-2 \
    --val_dataset test.jsonl \
    --infer_backend transformers \
    --max_new_tokens 8 \
    --temperature 0 \
    --result_path out/result.jsonl
