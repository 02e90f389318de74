from swift.rewards import ORM, orms


class HasAnswer(ORM):

    def __call__(self, completions, solution, **kwargs):
        rewards = []
        for completion, truth in zip(completions, solution):
            rewards.append(1.0 if str(truth) in completion else 0.0)
        return rewards


orms['has_answer'] = HasAnswer
