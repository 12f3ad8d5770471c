"""What the server of the workers imports and loads, so that each worker has it from its beginning.

Numba takes half a second to get ready. It starts no thread and is safe to fork after; pyarrow,
which is not, is imported here and not called.
"""

import gc

from ingest.logs.compiling import are_cached, load_loops
from ingest.runs import workers

__all__ = ["workers"]

if are_cached():
    load_loops()
# No worker looks through these objects again, which would copy their memory.
gc.freeze()
