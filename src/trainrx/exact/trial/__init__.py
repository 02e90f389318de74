"""The process that runs a model class: the only place that imports torch."""
