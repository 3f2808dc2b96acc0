"""What a reader sees of Markdown and HTML: the blocks of a page, and what is alive in it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from cmarkgfm import github_flavored_markdown_to_html
from cmarkgfm.cmark import Options

_BLOCKS = frozenset({"p", "li", "tr", "dd", "dt", "summary", "td"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "summary"})
_HIDDEN = frozenset({"script", "style", "template"})


def html_of(markdown: str) -> str:
    """Render as GitHub does, but keep all raw HTML, so that nothing that breaks out is hidden."""
    html: str = github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    return html


class Page(HTMLParser):
    """A page that was read: its blocks with their headings in front, its tags and its texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        """What is neither in code nor in a link."""
        self._open: list[str] = []
        self._parts: list[str] = []
        self._heading = ""
        self.feed(html)
        self.close()
        self._end_block()

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in _BLOCKS or tag in _HEADINGS or tag in ("details", "section", "ul", "ol"):
            self._end_block()
        if tag not in ("br", "meta", "link", "input", "img", "hr"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._heading = "".join(self._parts)
        if tag in _BLOCKS or tag in _HEADINGS:
            self._end_block()
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not _HIDDEN & {*self._open}:
            self._parts.append(data)
            if not {"a", "code"} & {*self._open}:
                self.texts.append(data)

    def _end_block(self) -> None:
        text = "".join(self._parts).strip()
        if text:
            self.blocks.append(f"{self._heading}: {text}")
        self._parts = []
