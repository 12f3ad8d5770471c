"""What the server of the workers imports, so that each worker has it from its beginning.

numba takes half a second to get ready. Its loops start no thread and are safe to fork after;
pyarrow, which is not, is imported here and not called.
"""

from ingest.formats.intlog import open_log
from ingest.records import ReadContext
from ingest.runs import workers

__all__ = ["workers"]

_reader = open_log(ReadContext("linux.log", 1e9))
_reader.feed(b"0 " * 15 + b"0\n")
_reader.finish()
_reader.take()
