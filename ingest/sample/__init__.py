"""Makes synthetic raw logs in the real formats, and lake rows for benchmarks, from one model."""

from ingest.sample.runs import sample_runs
from ingest.sample.writer import write_sample

__all__ = ["sample_runs", "write_sample"]
