"""What the steps of a job say: how memory grows, when it runs out, which rank differs, why NaN."""
