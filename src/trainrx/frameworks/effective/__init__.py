"""What each framework makes of its arguments after parsing them: effective defaults."""
