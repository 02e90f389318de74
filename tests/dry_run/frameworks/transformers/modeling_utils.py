class Parameter:
    is_meta = False


class PreTrainedModel:
    @classmethod
    def from_pretrained(cls, name, **options):
        assert name == "model"
        assert "quantization_config" not in options, "needs a GPU"
        return cls()

    def parameters(self):
        return [Parameter()]
