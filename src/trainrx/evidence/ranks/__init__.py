"""What single processes were seen to do, joined over the ranks of the job."""
