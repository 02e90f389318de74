python grpo.py
