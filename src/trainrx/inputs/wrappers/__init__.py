"""What collectors of logs put in front of each line: which, and the lines as they were printed."""
