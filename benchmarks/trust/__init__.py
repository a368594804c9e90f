"""What a stranger's file, a kill or a second run at the same time may do to us: nothing."""
