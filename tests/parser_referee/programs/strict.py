"""A parser that takes no beginnings of names, with a positional argument and a switch of two."""

import argparse

from trl import SFTConfig, SFTTrainer


def get_args():
    """Read the command line."""
    parser = argparse.ArgumentParser(description="trains", allow_abbrev=False)
    parser.add_argument("data", help="the data")
    group = parser.add_argument_group("training")
    group.add_argument("--batch-size", type=int, default=4)
    group.add_argument("--packing", action=argparse.BooleanOptionalAction, default=True)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--lora", action="store_true")
    one.add_argument("--full", action="store_true")
    return parser.parse_args()


args = get_args()
SFTTrainer(model="m", args=SFTConfig(per_device_train_batch_size=args.batch_size)).train()
