"""One verdict over all that is known of a job: its log, its launch, its memory, its versions."""
