"""What people state of a job in prose: hardware, versions, model, task, settings."""
