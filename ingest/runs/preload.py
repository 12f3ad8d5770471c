"""Modules that the fork server imports and loops that it loads, for all workers.

Numba needs half a second to load. It starts no thread, so a fork after it is safe. A fork after a
call of pyarrow is not safe: pyarrow is imported here but not called.
"""

import gc

from data.child_process import leave_out_pandas
from ingest.logs.compiling import are_cached, load_loops
from ingest.runs import workers

__all__ = ["workers"]

leave_out_pandas()
if are_cached():
    load_loops()
# The garbage collector of a worker skips these objects; a scan would copy their memory.
gc.freeze()
