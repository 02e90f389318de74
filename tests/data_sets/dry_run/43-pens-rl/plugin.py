from swift.rewards import ORM, orms


class PensReward(ORM):

    def __call__(self, completions, answer, **kwargs):
        rewards = []
        for completion, truth in zip(completions, answer):
            rewards.append(1.0 if str(truth) in completion else 0.0)
        return rewards


orms['pens'] = PensReward
