"""Makes synthetic raw logs in the real formats from one model."""

from ingest.sample.writer import write_sample

__all__ = ["write_sample"]
