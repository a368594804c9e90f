"""Checks that nothing is lost, silently wrong, or let in from outside unchecked."""
