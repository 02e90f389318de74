"""Launches of 40 flags, one of each framework, with a release that takes them all."""

from __future__ import annotations

from typing import NamedTuple

FLAGS = 40


class Launch(NamedTuple):
    """How a launch of a framework begins, what joins name and value, and the flags it is given."""

    start: str
    version: str
    flags: str
    form: str = "--{} {}"


HF = (
    "per_device_train_batch_size=2 per_device_eval_batch_size=2 gradient_accumulation_steps=8 "
    "learning_rate=1e-5 num_train_epochs=3 max_steps=500 lr_scheduler_type=cosine warmup_ratio=0.1 "
    "weight_decay=0.1 max_grad_norm=1.0 adam_beta1=0.9 adam_beta2=0.95 adam_epsilon=1e-8 "
    "logging_steps=1 save_steps=100 save_total_limit=2 eval_steps=100 seed=42 data_seed=42 "
    "bf16=true gradient_checkpointing=true dataloader_num_workers=4 report_to=none "
    "ddp_timeout=1800 save_strategy=steps optim=adamw_torch group_by_length=false "
    "remove_unused_columns=false output_dir=output run_name=a-run "
)
SCRIPTS = {
    "ms-swift": Launch(
        "NPROC_PER_NODE=8 swift sft",
        "3.2.1",
        HF.replace("optim=adamw_torch group_by_length=false", "")
        + "model=Qwen/Qwen2.5-VL-7B-Instruct train_type=lora lora_rank=8 lora_alpha=32 "
        "target_modules=all-linear freeze_vit=true torch_dtype=bfloat16 dataset=d.jsonl "
        "max_length=4096 deepspeed=zero2 attn_impl=flash_attn packing=false",
    ),
    "llamafactory": Launch(
        "llamafactory-cli train",
        "0.9.3",
        HF + "model_name_or_path=Qwen/Qwen2.5-7B stage=sft finetuning_type=lora lora_rank=8 "
        "lora_target=all dataset=alpaca_en_demo template=qwen cutoff_len=2048 do_train=true "
        "flash_attn=fa2",
    ),
    "trl": Launch(
        "accelerate launch --num_processes 8 -m trl.scripts.sft",
        "0.15.2",
        HF + "model_name_or_path=Qwen/Qwen2.5-7B dataset_name=trl-lib/Capybara use_peft=true "
        "lora_r=8 lora_alpha=16 lora_target_modules=all-linear torch_dtype=bfloat16 packing=true "
        "max_seq_length=2048 attn_implementation=flash_attention_2",
    ),
    "verl": Launch(
        "python3 -m verl.trainer.main_ppo",
        "0.4.1",
        "algorithm.adv_estimator=grpo data.train_files=t.parquet data.val_files=v.parquet "
        "data.train_batch_size=1024 data.max_prompt_length=512 data.max_response_length=1024 "
        "data.filter_overlong_prompts=True data.truncation=error data.shuffle=True "
        "actor_rollout_ref.model.path=Qwen/Qwen2.5-7B actor_rollout_ref.actor.optim.lr=1e-6 "
        "actor_rollout_ref.model.use_remove_padding=True actor_rollout_ref.actor.clip_ratio=0.2 "
        "actor_rollout_ref.actor.ppo_mini_batch_size=256 actor_rollout_ref.actor.kl_loss_coef=0.1 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 actor_rollout_ref.rollout.n=5 "
        "actor_rollout_ref.actor.use_kl_loss=True actor_rollout_ref.actor.entropy_coeff=0 "
        "actor_rollout_ref.actor.kl_loss_type=low_var_kl actor_rollout_ref.actor.grad_clip=1.0 "
        "actor_rollout_ref.model.enable_gradient_checkpointing=True "
        "actor_rollout_ref.actor.fsdp_config.param_offload=False "
        "actor_rollout_ref.actor.fsdp_config.optimizer_offload=False "
        "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8 "
        "actor_rollout_ref.rollout.tensor_model_parallel_size=2 "
        "actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.temperature=1.0 "
        "actor_rollout_ref.rollout.gpu_memory_utilization=0.6 "
        "actor_rollout_ref.rollout.enforce_eager=True actor_rollout_ref.rollout.top_p=1.0 "
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=8 "
        "actor_rollout_ref.ref.fsdp_config.param_offload=True "
        "algorithm.use_kl_in_reward=False trainer.critic_warmup=0 trainer.n_gpus_per_node=8 "
        "trainer.nnodes=1 trainer.save_freq=20 trainer.test_freq=5 trainer.total_epochs=15",
        "{}={}",
    ),
    "openrlhf": Launch(
        "deepspeed --module openrlhf.cli.train_sft",
        "0.6.4",
        "pretrain=Qwen/Qwen2.5-7B dataset=Open-Orca/OpenOrca input_key=question "
        "output_key=response max_samples=500000 max_len=2048 micro_train_batch_size=2 "
        "train_batch_size=256 max_epochs=1 zero_stage=2 learning_rate=5e-6 save_path=out "
        "save_steps=-1 logging_steps=1 eval_steps=-1 bf16 flash_attn gradient_checkpointing "
        "packing_samples apply_chat_template lora_rank=8 lora_alpha=16 target_modules=all-linear "
        "lora_dropout=0 seed=42 max_norm=1.0 l2=0.0 adam_betas=0.9 aux_loss_coef=0 "
        "lr_scheduler=cosine_with_min_lr lr_warmup_ratio=0.03 ckpt_path=ckpt max_ckpt_num=3 "
        "zpg=1 adam_offload overlap_comm grad_accum_dtype=fp32 use_wandb=x wandb_project=p "
        "load_checkpoint",
    ),
}


def script(launch: Launch) -> str:
    """Write a launch as people do: a shebang, a variable, one flag per line."""
    words = launch.flags.split()
    lines = [_flag(word, launch.form) for word in words]
    body = " \\\n    ".join([launch.start, *lines])
    return f"#!/bin/bash\nset -e\nexport CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7\n\n{body}\n"


def _flag(word: str, form: str) -> str:
    name, sign, value = word.partition("=")
    return form.format(name, value) if sign else f"--{name}"
