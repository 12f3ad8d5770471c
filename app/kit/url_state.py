"""The state of a page as a URL query: versioned, upgraded if old, rejected with a message if bad.

A page's state is a frozen dataclass that inherits from `UrlState`; attributes name their URL keys.
`v` is the version of the encoding; a query without `v` has the current version. To change a page's
encoding, raise its VERSION and add to its UPGRADERS a function that converts the previous version's
parameters to the next one's, so that a link in a paper works for years.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from typing import Any, ClassVar, Final, Self
from urllib.parse import parse_qs, urlencode

from app.kit.url_values import (
    LONGEST_SHOWN,
    is_version,
    read_flag,
    read_lake_version,
    read_number,
    read_text,
    write_value,
)
from data.catalogue import Catalogue
from data.declared import FACET_PREFIX
from data.errors import SelectionError
from data.selection import Selection, Value

Parameters = dict[str, list[str]]
Pairs = tuple[tuple[str, str], ...]
Upgraders = Mapping[int, Callable[[Parameters], Parameters]]
_LONGEST_HANDED_ON: Final = 6000
# Since this version of its state, each page reads filters and `sel` of other pages' links.
LINK_VERSION: Final = 2
# What pages hand on beside the filters: the limit, the metric that it applies to, the selection.
HANDED_ON: Final = frozenset({"limit", "by", "sel"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """How one key of a URL query is read into an attribute of a state.

    Attributes:
        read: Converts the text of a key to a value, given the key's name; raises SelectionError.
        is_list: The key may repeat; the attribute is a tuple of the values.
        is_kept: Only the browser holds the value, such as the selection.
        is_view: A control that affects one view only: the page's other views stay unchanged.
    """

    attribute: str
    read: Callable[[str, str], Any] = read_text
    is_list: bool = False
    is_kept: bool = False
    is_view: bool = False


_READERS: Final = {bool: read_flag, float: read_number}


def parameter(
    key: str, default: Any, read: Callable[[str, str], Any] | None = None, **marks: bool
) -> Any:
    """Declare an attribute of a state that a key of the URL query holds.

    Args:
        read: As of `Parameter`; None for what the default is: a flag, a number, a text, texts.
        marks: `is_list`, `is_kept`, `is_view`, as of `Parameter`.
    """
    marks = {"is_list": isinstance(default, tuple), **marks}
    read = read or _READERS.get(type(default), read_text)
    return field(default=default, metadata={"key": key, "marks": {"read": read, **marks}})


@dataclass(frozen=True, slots=True)
class UrlState:
    """Base of the pages' states: frozen dataclasses whose fields all have defaults.

    Most states have `sel` (the selection as a clause, see `kit.clause`; empty for none). Pages hand
    on to each other the filters and the parameters in HANDED_ON.

    Attributes:
        selection: The filters.
        lake_version: The version of the lake that a link pins; None for the newest.
        carried: Parameters of a link that the page cannot use, such as filters that it does not
            have; it hands them on to other pages.
        ignored: Names in the link that no page knows, such as `utm_source`.
        named: The keys of parameters in the link: the others have their defaults. None without a
            link.

    A subclass sets VERSION and UPGRADERS (old version to the function that converts its parameters
    to the next one's), and declares each attribute by `parameter`, in the order in which links have
    them. It overrides `filters` if it lacks some, and `check`.
    """

    VERSION: ClassVar[int] = 1
    UPGRADERS: ClassVar[Upgraders] = {}
    selection: Selection = field(default_factory=Selection, kw_only=True)
    lake_version: int | None = field(default=None, kw_only=True)
    carried: Pairs = field(default=(), kw_only=True, compare=False)
    ignored: tuple[str, ...] = field(default=(), kw_only=True, compare=False)
    named: frozenset[str] | None = field(default=None, kw_only=True, compare=False)

    @classmethod
    @cache
    def parameters(cls) -> Mapping[str, Parameter]:
        """Return the parameters by URL key, in the order in which they are written."""
        own = {
            part.metadata["key"]: Parameter(part.name, **part.metadata["marks"])
            for part in fields(cls)
            if part.metadata
        }
        return {**own, "lake": Parameter("lake_version", read_lake_version)}

    @classmethod
    def filters(cls, catalogue: Catalogue) -> Collection[str]:
        """Return the names of the facets of the attribute `selection`; empty without one."""
        return catalogue.facets

    def check(self, catalogue: Catalogue) -> None:
        """Refuse names of columns, knobs or filters that the lake lacks.

        Raises:
            SelectionError: The message has the name.
        """

    def to_query(self) -> str:
        """Write the query string without defaults: the same state gives the same text."""
        default = type(self)()
        pairs = [("v", str(self.VERSION)), *filter_pairs(self.selection)]
        for key, parameter in self.parameters().items():
            value = getattr(self, parameter.attribute)
            if value != getattr(default, parameter.attribute):
                pairs += [(key, text) for text in self.write(key, value)]
        written = {key for key, _ in pairs}
        return urlencode([*pairs, *(pair for pair in self.carried if pair[0] not in written)])

    def handed_on(self) -> Pairs:
        """Return the filters, the limit and the selection as parameters, without `carried`."""
        default, pairs = type(self)(), filter_pairs(self.selection)
        for key in sorted(HANDED_ON & self.parameters().keys()):
            name = self.parameters()[key].attribute
            if getattr(self, name) != getattr(default, name):
                pairs.append((key, write_value(getattr(self, name))))
        return tuple(pairs)

    def write(self, key: str, value: Any) -> list[str]:
        """Convert one attribute to the texts of its key."""
        return [write_value(v) for v in (value if self.parameters()[key].is_list else [value])]

    @classmethod
    def from_query(cls, query: str, catalogue: Catalogue) -> Self:
        """Read a query string of this version or an older one.

        Filters and a limit that the page does not have are `carried`. Unknown names are left out
        and listed in `ignored`.

        Args:
            catalogue: That of the lake's version on the page.

        Raises:
            SelectionError: A newer version, a filter on a column that the lake lacks, or a bad
                value; the message names it.
        """
        return cls._of(read_parameters(query, cls.VERSION, cls.UPGRADERS), catalogue)

    @classmethod
    def _of(cls, parameters: Parameters, catalogue: Catalogue) -> Self:
        filters, ignored = take_filters(parameters, catalogue).clauses, []
        names = cls.filters(catalogue)
        own, others = (
            Selection(tuple(c for c in filters if (c.facet.name in names) is is_own))
            for is_own in (True, False)
        )
        values: dict[str, Any] = {"selection": own}
        carried = filter_pairs(others)
        for key, texts in parameters.items():
            if key.startswith(FACET_PREFIX):
                column = key.removeprefix(FACET_PREFIX)[:LONGEST_SHOWN]
                raise SelectionError(f"the lake has no declared column {column!r} to filter by")
            if key in cls.parameters():
                values[cls.parameters()[key].attribute] = cls.read(key, texts)
            elif key in HANDED_ON:
                carried.append((key, check_handed_on(key, texts[-1])))
            else:
                ignored.append(key)
        named = frozenset(parameters.keys() & cls.parameters().keys())
        state = cls(**values, carried=tuple(carried), ignored=tuple(ignored), named=named)
        state.check(catalogue)
        return state

    @classmethod
    def read(cls, key: str, texts: Sequence[str]) -> Any:
        """Convert the texts of one key to the value of its attribute."""
        parameter = cls.parameters()[key]
        if parameter.is_list:
            return tuple(dict.fromkeys(parameter.read(key, text) for text in texts))
        return parameter.read(key, texts[-1])

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], catalogue: Catalogue) -> Self:
        """Read the values that the browser gathered from the page's controls, by URL key.

        Raises:
            SelectionError: As `from_query`, or they are no mapping.
        """
        if not isinstance(raw, Mapping):
            raise SelectionError(
                f"the state is {str(raw)[:LONGEST_SHOWN]!r}, expected values by key"
            )
        return cls._of(parameters_of(raw), catalogue)

    @classmethod
    def spec(cls, catalogue: Catalogue) -> dict[str, Any]:
        """Return what the browser needs to write URLs: versions, filters, keys with defaults."""
        default = cls()
        return {
            "version": cls.VERSION,
            "facets": list(cls.filters(catalogue)),
            "viewKeys": [key for key, p in cls.parameters().items() if p.is_view],
            "defaults": {
                key: default.write(key, value) if p.is_list else write_value(value)
                for key, p in cls.parameters().items()
                for own in [getattr(default, p.attribute)]
                for value in ["" if own is None else own]
            },
        }


def read_parameters(query: str, version: int, upgraders: Upgraders) -> Parameters:
    """Parse a URL query and upgrade its parameters to the current version.

    Args:
        query: With or without its question mark; without `v` it has the current version.
        version: The current version.
        upgraders: Old version to the function that converts its parameters to the next one's.
    Raises:
        SelectionError: A newer version, or one that never existed.
    """
    parameters = parse_qs(query.lstrip("?"), keep_blank_values=True)
    text = parameters.pop("v", [str(version)])[-1]
    if not is_version(text) or int(text) > version:
        raise SelectionError(
            f"the link has version {text[:LONGEST_SHOWN]!r}; this wattlas reads up to {version}: "
            "it may be newer"
        )
    for old in range(int(text), version):
        if old not in upgraders:
            raise SelectionError(f"the link has version {old}, which never existed")
        parameters = upgraders[old](parameters)
    return parameters


def has_state(query: str, ignored: Collection[str] = ()) -> bool:
    """Return whether a URL query says what to show; without that the page chooses.

    Args:
        ignored: Names that say nothing.
    """
    names = parse_qs(query.lstrip("?"), keep_blank_values=True).keys()
    return bool(names - {"lake", *ignored})


def pinned_version(query: str) -> int | None:
    """Return the version of the lake that a URL query of any page pins; None for the newest.

    Raises:
        SelectionError: It is no version number.
    """
    texts = parse_qs(query.lstrip("?"), keep_blank_values=True).get("lake")
    return read_lake_version("lake", texts[-1]) if texts else None


def filter_pairs(selection: Selection) -> list[tuple[str, str]]:
    """Convert the filters to parameters: the same filters give the same pairs."""
    clauses = sorted(selection.clauses, key=lambda clause: clause.facet.order)
    return [(c.facet.name, text) for c in clauses for text in sorted(map(write_value, c.values))]


def take_filters(parameters: Parameters, catalogue: Catalogue) -> Selection:
    """Read the filters and remove them from the parameters.

    Raises:
        SelectionError: A value of the wrong type; the message names filter and value.
    """
    named = [name for name in catalogue.facets if name in parameters]
    return _selection(tuple((name, tuple(parameters.pop(name))) for name in named), catalogue)


# All callbacks of one change read the same filters.
@lru_cache(maxsize=16)
def _selection(filters: tuple[tuple[str, tuple[str, ...]], ...], catalogue: Catalogue) -> Selection:
    values: dict[str, list[Value]] = {}
    for name, texts in filters:
        facet = catalogue.facets[name]
        chosen: list[Value] = [
            read_number(name, text) if facet.is_number and text != facet.null_word else text
            for text in texts
        ]
        values[name] = list(dict.fromkeys(chosen))
    return catalogue.selection(values)


def parameters_of(raw: Mapping[str, Any]) -> Parameters:
    """Convert controls' values to the texts of each key; None and empty texts are left out."""
    parameters: Parameters = {}
    for key, value in raw.items():
        values: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
        texts = [write_value(v) for v in values if v is not None and v != ""]
        if texts:
            parameters[key] = texts
    return parameters


def check_handed_on(key: str, text: str) -> str:
    """Return a text that the page hands on, as another page writes it.

    Raises:
        SelectionError: A limit that is no number above 0; the page that uses it checks the rest.
    """
    if key == "limit" and read_number(key, text) <= 0:
        raise SelectionError(f"limit is {text[:LONGEST_SHOWN]!r}, expected a number above 0")
    if len(text) > _LONGEST_HANDED_ON:
        raise SelectionError(f"{key} of {len(text)} characters is too long for an address")
    return text
