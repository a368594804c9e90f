"""Text in, token ids and a vocabulary out."""
