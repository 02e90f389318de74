import re
from typing import List

from swift.rewards import ORM, orms


class NumberReward(ORM):

    def __call__(self, completions, solution, **kwargs) -> List[float]:
        rewards = []
        for text, gold in zip(completions, solution):
            found = re.findall(r'-?\d+', text)
            rewards.append(1.0 if found and found[-1] == str(gold) else 0.0)
        return rewards


orms['number'] = NumberReward
