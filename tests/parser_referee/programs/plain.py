"""A parser of argparse with the usual kinds of options."""

import argparse

from trl import SFTConfig, SFTTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--model", "-m", required=True)
parser.add_argument("--learning_rate", "--lr", type=float, default=1e-5)
parser.add_argument("--num_steps", type=int, default=100)
parser.add_argument("--num_workers", type=int, default=2)
parser.add_argument("--precision", choices=["bf16", "fp16", "fp32"], default="bf16")
parser.add_argument("--bits", type=int, choices=[4, 8, 16], default=16)
parser.add_argument("--target_modules", nargs="+", default=["q_proj"])
parser.add_argument("--betas", type=float, nargs=2)
parser.add_argument("--extra", nargs="*")
parser.add_argument("--resume", nargs="?", const="last")
parser.add_argument("--gradient-checkpointing", action="store_true")
parser.add_argument("--no_shuffle", dest="shuffle", action="store_false")
parser.add_argument("--verbose", "-v", action="count", default=0)
parser.add_argument("--tag", action="append")
parser.add_argument("--seed", type=int, default=-1)
args = parser.parse_args()
SFTTrainer(model=args.model, args=SFTConfig(learning_rate=args.learning_rate)).train()
