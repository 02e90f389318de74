"""Options that functions of the program add, of types of its own."""

import argparse
import os

from trl import SFTConfig, SFTTrainer

OPTIMIZERS = ("adamw", "sgd")
SIZES = [1, 2, 4]


def str2bool(word):
    """Read a switch."""
    if word.lower() in ("yes", "true", "1"):
        return True
    if word.lower() in ("no", "false", "0"):
        return False
    raise argparse.ArgumentTypeError("Boolean value expected.")


def add_model_args(parser):
    """Add what concerns the model."""
    group = parser.add_argument_group("model")
    group.add_argument("--model-name", type=str, required=True)
    group.add_argument("--use-lora", type=str2bool, default=False)
    group.add_argument("--rank", type=int, default=8, help="of the adapter")
    return parser


def add_training_args(parser):
    """Add what concerns the training."""
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default=OPTIMIZERS[0])
    parser.add_argument("--accumulation", type=int, choices=SIZES, default=1)
    parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", "-1")))
    parser.add_argument("--steps", type=int, default=10 * 10)
    parser.add_argument("--flag", type=bool, default=False)
    return parser


parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser = add_model_args(parser)
add_training_args(parser)
parser.set_defaults(steps=50)
args = parser.parse_args()
SFTTrainer(model=args.model_name, args=SFTConfig(max_steps=args.steps)).train()
