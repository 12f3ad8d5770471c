"""What a dataset says of itself, from Markdown to components; HTML in it is text."""

from collections.abc import Sequence
from typing import Final

from dash import html
from dash.development.base_component import Component
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

# Markdown without HTML and pictures; links lead to addresses of these schemes only.
_READER: Final = MarkdownIt("commonmark", {"html": False}).disable("image")
_SCHEMES: Final = ("http://", "https://", "mailto:")
_TAGS: Final = {
    "paragraph": html.P, "strong": html.Strong, "em": html.Em, "blockquote": html.Blockquote,
    "bullet_list": html.Ul, "ordered_list": html.Ol, "list_item": html.Li, "heading": html.H4,
}  # fmt: skip
_TEXTS: Final = {"code_inline": html.Code, "fence": html.Pre, "code_block": html.Pre}
_PLAIN: Final = {"text": None, "softbreak": " ", "hardbreak": "\n"}


def readme(text: str) -> html.Div:
    """Lay out a text in Markdown."""
    root = SyntaxTreeNode(_READER.parse(text))
    return html.Div(_laid_out(root.children), className="lake-readme")


def web_link(href: str, parts: Sequence[Component | str]) -> html.A | html.Span:
    """Lay out a link; its text alone where the address is none of the web."""
    if not href.lower().startswith(_SCHEMES):
        return html.Span(parts)
    return html.A(parts, href=href, rel="noopener noreferrer nofollow")


def _laid_out(nodes: Sequence[SyntaxTreeNode]) -> list[Component | str]:
    parts: list[Component | str] = []
    for node in nodes:
        if node.type in _PLAIN:
            parts.append(_PLAIN[node.type] or node.content)
        elif node.type in _TEXTS:
            parts.append(_TEXTS[node.type](node.content))
        elif node.type == "link":
            parts.append(web_link(str(node.attrs["href"]), _laid_out(node.children)))
        elif node.type in _TAGS:
            parts.append(_TAGS[node.type](_laid_out(node.children)))
        elif node.type == "hr":
            parts.append(html.Hr())
        else:
            parts += _laid_out(node.children)
    return parts
