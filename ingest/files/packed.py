"""Long lists in little memory: all but the last items are pickled and compressed in chunks.

As Python objects a row of a table takes 1 to 5 kB; packed, some 50 bytes.
"""

import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar, overload

CHUNK: Final = 1024
_LEVEL: Final = 1
Item = TypeVar("Item")


def packed(value: Any) -> bytes:
    """Return a value in few bytes."""
    return zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), _LEVEL)


def unpacked(content: bytes) -> Any:
    """Return the value of `packed`, from this process."""
    return pickle.loads(zlib.decompress(content))


class Packed(Sequence[Item], Generic[Item]):
    """A list that grows at its end. Items are copies: changes to one are lost."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._chunks: list[bytes] = []
        self._last: list[Item] = []
        for item in items:
            self.append(item)

    def append(self, item: Item) -> None:
        """Add an item."""
        self._last.append(item)
        if len(self._last) == CHUNK:
            self._chunks.append(packed(self._last))
            self._last = []

    def __len__(self) -> int:
        return len(self._chunks) * CHUNK + len(self._last)

    def __iter__(self) -> Iterator[Item]:
        for chunk in self._chunks:
            yield from unpacked(chunk)
        yield from self._last

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        if isinstance(at, slice):
            return list(self)[at]
        number, place = divmod(range(len(self))[at], CHUNK)
        items = self._last if number == len(self._chunks) else unpacked(self._chunks[number])
        found: Item = items[place]
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
