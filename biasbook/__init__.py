"""Measure social bias in word embeddings, language models and embedding APIs: a book whose chapters run."""
__version__ = "0.1.0"
