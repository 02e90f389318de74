class GenerationMixin:
    def generate(self, max_new_tokens=20):
        return max_new_tokens
