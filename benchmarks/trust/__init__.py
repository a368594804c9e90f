"""What coterie promises when things go wrong, put to the test in numbers."""
