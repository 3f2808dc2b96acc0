"""The one reading of shell lines: simple commands, their words, redirections and joints.

It follows quotes, substitutions, subshells, redirections and here-documents as bash does, and runs
nothing. What it cannot follow, such as a quote that is never closed, it reads as far as it goes; it
says so too. A test compares it with bash. It runs in hooks, so it loads nothing, not even `re`.
"""

from __future__ import annotations

UNKNOWN = "$"
"""Stands in a word for what a shell would put there."""
PIPES = ("|", "|&")
"""Joints that hand on what a command prints."""
_BLANK = " \t"
_BARE = frozenset(_BLANK + "\n'\"\\$`;&|<>(){}#")
_IN_QUOTES = frozenset('"\\$`')
_IN_QUOTED_PARAMETER = _IN_QUOTES | {"}"}
_ESCAPED_IN_QUOTES = frozenset('"\\$`\n')
_NEVER_IN_PLAIN_COMMENT = frozenset("'\"\\;&|<>(){}$`")
_REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">|", ">&", "&>", "<", ">")
"""Longer ones first, since a shell takes the longest."""
_EMPTYING = frozenset((">", ">|", "&>", ">&"))
_WRITING = _EMPTYING | {">>", "&>>", "<>"}
_KEYWORDS = frozenset(
    ("if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "fi", "done", "esac")
)
"""Words before which or after which a command begins."""
_OPERATORS = ":-=+?"
"""What stands in `${name:-default}` between the name and other words."""
_EXTENDED_GLOB = frozenset("?*+@!")
_BODY = "<<"
"""Closes the frame of a here-document, which ends with its text alone."""
_CUT = "…\n"
"""Stands for the rest of a here-document."""
_PROCESS = "/dev/fd/63"
"""What a shell puts in the place of `<(…)` and `>(…)`."""
_MOST_LEVELS = 6
"""Texts inside of texts that are read: here-documents, and backticks with their own escapes."""
_LONGEST_NAME = 64
"""Characters of a keyword or a descriptor with what is put between them."""
_ESCAPES = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
_NUMBERS = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}
"""What begins a number in `$'…'`: its base, and how many digits it has at most."""


class SimpleCommand:
    """One command of a shell line: its words without their quotes, and what is around them."""

    def __init__(self, text: str = "", feeder: SimpleCommand | None = None) -> None:
        self.text = text
        """The text in which it stands: the line, or what a substitution runs."""
        self.words: list[str] = []
        """Assignments in front of a program's name are words too."""
        self.spans: list[tuple[int, int]] = []
        """Where each word begins and ends in the text, with its quotes."""
        self.keywords: list[str] = []
        """Those in front of it, such as `if`; `fi` is one without words."""
        self.redirections: list[tuple[str, str]] = []
        """Operators and their targets."""
        self.joint = ""
        """What stands behind it: `;`, `&`, `&&`, `||`, `|`, `|&`, a newline, or nothing."""
        self.comment = ""
        self.input = ""
        """Its here-documents and here-strings."""
        self.feeder = feeder
        """The command whose output is piped into it."""
        self.is_substituted = False
        """Whether it runs in a substitution, so that it is no step of the line itself."""
        self.is_grouped = False
        """Whether it runs in parentheses."""

    def as_written(self) -> list[str]:
        """Return its words with their quotes."""
        return [self.text[begin:end] for begin, end in self.spans]

    @property
    def truncated(self) -> list[str]:
        """Files that its redirections empty."""
        return _targets(self, _EMPTYING)

    @property
    def written(self) -> list[str]:
        """Files that its redirections empty or append to."""
        return _targets(self, _WRITING)


def _targets(command: SimpleCommand, operators: frozenset[str]) -> list[str]:
    return [
        target
        for operator, target in command.redirections
        if operator in operators and not (operator == ">&" and is_descriptor(target))
    ]


def is_descriptor(target: str) -> bool:
    """Say whether `>&` copies or closes a descriptor, and writes no file."""
    return target == "-" or target.rstrip("-").isdecimal()


def read_line(text: str) -> ShellLine:
    """Return what a shell line says."""
    line = ShellLine(text)
    inner = line.inner
    for _ in range(_MOST_LEVELS):
        texts = [ShellLine(body, closer=closer) for body, closer in inner]
        line.commands += [command for text_line in texts for command in text_line.commands]
        line.texts += [command for text_line in texts for command in text_line.texts]
        inner = [each for text_line in texts for each in text_line.inner]
    line.is_complete &= not inner
    return line


def commands_of(text: str) -> list[SimpleCommand]:
    """Return the simple commands of a shell line, those of substitutions as well."""
    return read_line(text).commands


def with_short_bodies(line: str, most: int) -> str:
    """Return a line in which here-documents are cut so that it has at most so many characters.

    The commands behind them are whole then. A line that is long by its commands stays too long.
    """
    excess = len(line) - most
    if excess <= 0 or "<<" not in line:
        return line
    parts: list[str] = []
    at = 0
    for begin, end in ShellLine(line).bodies:
        cut = line.rfind("\n", begin, max(end - excess - len(_CUT), begin)) + 1 or begin
        if excess > 0 and end - cut > len(_CUT):
            parts += line[at:cut], _CUT
            excess -= end - cut - len(_CUT)
            at = end
    return "".join((*parts, line[at:]))


class _Frame:
    """A level of nesting: the line, a subshell, a substitution, or text that is no command."""

    def __init__(self, closer: str, *, runs: bool) -> None:
        self.closer = closer
        self.runs = runs
        """Whether its words are commands; those of arithmetic, an array or a test are not."""
        self.command = SimpleCommand()
        self.parts: list[str] | None = None
        """The word that is being read; an empty list is an empty word."""
        self.start = 0
        """Where that word begins."""
        self.operator = ""
        """The redirection whose target the word is."""
        self.operator_at = 0
        self.in_quotes = closer == _BODY
        self.is_substituted = self.is_grouped = False
        self.is_subshell = False
        """Whether what stands behind it stands behind its last command."""
        self.cases = 0
        """How many `case` are open."""
        self.is_pattern = False
        """Whether its words are a pattern of a `case`, which a parenthesis ends."""
        self.unjoined: list[SimpleCommand] = []
        """Commands that ended, of which nobody knows yet what stands behind them."""


class ShellLine:
    """What a text says that a shell runs: read once, from its beginning to its end."""

    def __init__(self, text: str, closer: str = "") -> None:
        self.commands: list[SimpleCommand] = []
        """Its simple commands, those of substitutions as well."""
        self.texts: list[SimpleCommand] = []
        """What no command is: arrays, tests, arithmetic, patterns, defaults, comments alone."""
        self.inner: list[tuple[str, str]] = []
        """Texts that a shell runs or in which it substitutes, with what closes their frame."""
        self.is_complete = True
        """Whether all that begins in it ends in it, and nothing is too deep to be read."""
        self.is_plain = "\0" not in text
        """Whether it is words alone in any shell: nothing joins, redirects or substitutes."""
        self.unbegun_at = len(text)
        """Where a here-document stands whose text is missing; the end of the text if none does."""
        self._text = text
        self._at = self._token_at = 0
        self._frame = _Frame(closer, runs=closer != _BODY)
        self._frame.is_substituted = bool(closer)
        self._outer: list[_Frame] = []
        self.bodies: list[tuple[int, int]] = []
        """Where the text of each here-document begins and ends, without the line that ends it."""
        self._awaited: list[tuple[SimpleCommand, str, str, bool, int]] = []
        """Here-documents that begin with the next line: operator, delimiter, quoted or not, place.
        """
        self._begin_command()
        self._read()

    def _read(self) -> None:
        text, end = self._text, len(self._text)
        while self._at < end:
            frame = self._frame
            specials = _BARE
            if frame.in_quotes:
                specials = _IN_QUOTED_PARAMETER if frame.closer == "}" else _IN_QUOTES
            self._token_at = at = self._at
            while at < end and text[at] not in specials:
                at += 1
            if at > self._at:
                self._at = at
                self._add(text[self._token_at : at])
            elif frame.in_quotes:
                self._read_in_quotes(text[at])
            else:
                self._read_bare(text[at])
        self._token_at = end
        frame = self._frame
        self.is_complete &= not (self._outer or frame.in_quotes or frame.cases or self._awaited)
        self.unbegun_at = self._awaited[0][-1] if self._awaited else end
        while self._outer:
            self._close()
        self._finish_command()
        self.is_plain &= self.is_complete

    def _read_in_quotes(self, character: str) -> None:
        if character == "$":
            self._read_dollar()
        elif character == "`":
            self._read_backtick()
        elif character == "\\":
            following = self._text[self._at + 1 : self._at + 2]
            self._at += 2
            if following != "\n":
                self._add(following if following in _ESCAPED_IN_QUOTES else "\\" + following)
        else:
            self._at += 1
            if character == "}":
                self._close()
            elif self._frame.closer == _BODY:
                self._add(character)
            else:
                self._frame.in_quotes = False

    def _read_bare(self, character: str) -> None:
        if character in _BLANK:
            self._at += 1
            self._finish_word()
        elif character == '"':
            self._at += 1
            self._add("")
            self._frame.in_quotes = True
        elif character in "'\\":
            self._read_quoted(character)
        elif character == "#":
            self._read_comment()
        else:
            self.is_plain = False
            if character in "<>" or self._text.startswith("&>", self._at):
                self._read_redirection()
            elif character == "$":
                self._read_dollar()
            elif character == "`":
                self._read_backtick()
            elif character == "(":
                self._read_parenthesis()
            elif character in ";&|\n":
                self._read_separator(character)
            else:
                self._read_brace(character)

    def _read_quoted(self, mark: str) -> None:
        text = self._text
        if mark == "\\":
            following = text[self._at + 1 : self._at + 2]
            self._at += 2
            self.is_complete &= following != ""
            self.is_plain &= following.isprintable()
            if following != "\n":
                self._add(following or mark)
            return
        end = text.find("'", self._at + 1)
        if end < 0:
            end, self.is_complete = len(text), False
        self.is_plain &= text[end - 1] != "\\"  # some shells take that for a quote in the text
        self._add(text[self._at + 1 : end])
        self._at = end + 1

    def _read_separator(self, character: str) -> None:
        self._at += 1
        following = self._text[self._at : self._at + 1]
        joint = character
        seconds = {"|": "|&", ";": ";&" if self._frame.cases else ";", "&": "&"}.get(character, "")
        if following and following in seconds:
            self._at += 1
            joint += following
        self._finish_word()
        if not self._frame.is_pattern:
            self._finish_command(";" if joint in (";;", ";&") else joint)
            self._frame.is_pattern = joint in (";;", ";&") and self._frame.cases > 0
        if character == "\n":
            awaited, self._awaited = self._awaited, []
            for command, operator, delimiter, is_quoted, _ in awaited:
                body = self._read_body(delimiter, strips_tabs=operator == "<<-")
                command.input += body
                if not is_quoted and ("$" in body or "`" in body):
                    self.inner.append((body, _BODY))

    def _read_comment(self) -> None:
        frame, begin = self._frame, self._at
        if frame.parts is not None or frame.closer == "}":
            self._at += 1
            self._add("#")
            return
        end = self._text.find("\n", begin)
        self._at = len(self._text) if end < 0 else end
        frame.command.comment = self._text[begin : self._at]
        self.is_plain &= _NEVER_IN_PLAIN_COMMENT.isdisjoint(frame.command.comment)

    def _read_brace(self, character: str) -> None:
        """Read a brace, or a parenthesis that closes."""
        self._at += 1
        if character == ")" and (self._frame.runs or self._frame.closer == "]]"):
            self._finish_word()  # which may end a `case` or a test
        frame = self._frame
        if character == frame.closer and not frame.is_pattern:
            self._close()
        elif character == ")" and frame.runs:
            self._finish_command()
            frame.is_pattern = False
        else:
            self._add(character)

    def _read_dollar(self) -> None:
        self.is_plain = False
        text, at = self._text, self._at
        following = text[at + 1 : at + 2]
        if following == "(":
            self._add(UNKNOWN)
            self._at = at + 2
            self._open(")", runs=text[at + 2 : at + 3] != "(", is_substituted=True)
        elif following == "{":
            self._read_parameter()
        elif following in ("'", '"') and not self._frame.in_quotes:
            self._at = at + 1
            if following == "'":
                self._read_escapes()
        else:
            self._add(UNKNOWN)
            self._at = at + 1

    def _read_parameter(self) -> None:
        """Read `${name}`; keep the name, and look for commands in what else there is."""
        text, in_quotes = self._text, self._frame.in_quotes
        start = end = self._at + 2
        while text[end : end + 1].isalnum() or text[end : end + 1] == "_":
            end += 1
        self._add(UNKNOWN + text[start:end])
        while text[end : end + 1] in _OPERATORS and end < len(text):
            end += 1
        self._at = end
        self._open("}", runs=False, is_substituted=True)
        self._frame.in_quotes = in_quotes

    def _read_escapes(self) -> None:
        r"""Read `$'…'`, in which a backslash escapes."""
        text, at = self._text, self._at + 1
        parts = [""]
        while at < len(text) and text[at] != "'":
            if text[at] == "\\":
                part, at = _escaped(text, at + 1)
            else:
                part, at = text[at], at + 1
            parts.append(part)
        self.is_complete &= at < len(text)
        self._add("".join(parts))
        self._at = at + 1

    def _read_backtick(self) -> None:
        self.is_plain = False
        text, start = self._text, self._at + 1
        end = start
        while end < len(text) and text[end] != "`":
            end += 2 if text[end] == "\\" else 1
        self.is_complete &= end < len(text)
        parts = text[start:end].split("\\\\")
        escaped = "`$" + '"' * self._frame.in_quotes
        for mark in escaped:
            parts = [part.replace("\\" + mark, mark) for part in parts]
        self._add(UNKNOWN)
        self._at = end + 1
        self.inner.append(("\\".join(parts), "`"))

    def _read_parenthesis(self) -> None:
        frame = self._frame
        word = None if frame.parts is None else "".join(frame.parts)
        self._at += 1
        if frame.is_pattern:
            return
        if not frame.runs or (word and word.endswith("=")):
            self._open(")", runs=False)
        elif word and word[-1] in _EXTENDED_GLOB:
            self._add("*")
            self._open(")", runs=False)
        else:
            begins = word is None and frame.command.words in ([], ["for"])
            is_arithmetic = begins and self._text.startswith("(", self._at)
            self._finish_command()
            self._open(")", runs=not is_arithmetic, is_subshell=True)

    def _read_redirection(self) -> None:
        text, at, frame = self._text, self._at, self._frame
        if not frame.runs:
            self._add(text[at])
            self._at = at + 1
            return
        if frame.parts is not None:
            descriptor = text[frame.start : min(at, frame.start + _LONGEST_NAME)]
            if descriptor.isdecimal() or (descriptor[0] == "{" and descriptor[-1] == "}"):
                frame.parts = None
            else:
                self._finish_word()
        if text.startswith("(", at + 1) and text[at] != "&":
            self._add(_PROCESS)
            self._at = at + 2
            self._open(")", runs=True, is_substituted=True)
            return
        frame.operator = next(sign for sign in _REDIRECTIONS if text.startswith(sign, at))
        frame.operator_at = at
        self._at = at + len(frame.operator)
        while text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1

    def _read_body(self, delimiter: str, *, strips_tabs: bool) -> str:
        lines: list[str] = []
        begin = last = self._at
        while self._at < len(self._text):
            end = self._text.find("\n", self._at)
            end = len(self._text) if end < 0 else end
            line = self._text[self._at : end]
            last, self._at = self._at, end + 1
            line = line.lstrip("\t") if strips_tabs else line
            if line == delimiter:
                break
            lines.append(f"{line}\n")
        else:
            last, self.is_complete = len(self._text), False
        self.bodies.append((begin, last))
        return "".join(lines)

    def _add(self, part: str) -> None:
        frame = self._frame
        if frame.parts is None:
            frame.parts, frame.start = [part], self._token_at
        else:
            frame.parts.append(part)

    def _open(
        self, closer: str, *, runs: bool, is_substituted: bool = False, is_subshell: bool = False
    ) -> None:
        outer = self._frame
        self._outer.append(outer)
        self._frame = frame = _Frame(closer, runs=runs)
        frame.is_substituted = outer.is_substituted or is_substituted
        frame.is_grouped = outer.is_grouped or is_subshell
        frame.is_subshell = is_subshell
        self._begin_command()

    def _begin_command(self, feeder: SimpleCommand | None = None) -> None:
        frame = self._frame
        frame.command = command = SimpleCommand(self._text, feeder)
        command.is_substituted, command.is_grouped = frame.is_substituted, frame.is_grouped

    def _close(self) -> None:
        self._finish_command()
        # A test that is never ended is closed with the word that ends its frame.
        if self._outer:
            inner, self._frame = self._frame, self._outer.pop()
            if inner.is_subshell:
                self._frame.unjoined += inner.unjoined

    def _finish_word(self) -> None:
        frame = self._frame
        if frame.parts is None:
            return
        word = "".join(frame.parts)
        frame.parts = None
        is_bare = self._is_bare(word)
        if frame.operator:
            operator, frame.operator = frame.operator, ""
            self._redirect(operator, word, is_quoted=not is_bare)
            return
        command = frame.command
        if frame.runs and is_bare and not command.words and word in _KEYWORDS:
            command.keywords.append(word)
            if word == "esac" and frame.cases:
                frame.cases -= 1
                frame.is_pattern = False
            return
        command.words.append(word)
        command.spans.append((frame.start, self._token_at))
        if not frame.runs:
            if word == frame.closer == "]]":
                self._close()
        elif word == "{" and command.words[0] == "function":
            self._finish_command()
        elif frame.cases and word == "in" and command.words[:1] == ["case"]:
            self._finish_command()
            frame.is_pattern = True
        elif is_bare and len(command.words) == 1:
            if word == "case":
                frame.cases += 1
            elif word == "[[":
                self._open("]]", runs=False)

    def _is_bare(self, word: str) -> bool:
        """Say whether the word that ends here is written as it is, without quotes."""
        start, end = self._frame.start, self._token_at
        if end - start == len(word):
            return self._text.startswith(word, start)
        return end - start < _LONGEST_NAME and word == self._text[start:end].replace("\\\n", "")

    def _redirect(self, operator: str, target: str, *, is_quoted: bool) -> None:
        frame = self._frame
        command = frame.command
        command.redirections.append((operator, target))
        if operator == "<<<":
            command.input += target + "\n"
        elif operator in ("<<", "<<-"):
            self._awaited.append((command, operator, target, is_quoted, frame.operator_at))

    def _finish_command(self, joint: str = "") -> None:
        self._finish_word()
        frame = self._frame
        frame.operator = ""
        command = frame.command
        is_empty = not (command.words or command.redirections or command.keywords)
        if is_empty or frame.is_pattern or not frame.runs:
            if command.words or command.comment:
                self.texts.append(command)
                self._begin_command(command.feeder)
        else:
            self.commands.append(command)
            frame.unjoined.append(command)
            self._begin_command()
        if joint and frame.unjoined:
            for ended in frame.unjoined:
                ended.joint = joint
            if joint in PIPES:
                frame.command.feeder = frame.unjoined[-1]
            frame.unjoined = []


def _escaped(text: str, at: int) -> tuple[str, int]:
    """Return what stands in `$'…'` behind a backslash, and the place where the text goes on."""
    mark = text[at : at + 1]
    if mark in _ESCAPES:
        return _ESCAPES[mark], at + 1
    base, longest = _NUMBERS.get(mark, (8, 3))
    start = end = at + (mark in _NUMBERS)
    digits = "0123456789abcdefABCDEF" if base == 16 else "01234567"
    while end < start + longest and text[end : end + 1] in digits and end < len(text):
        end += 1
    if end == start:
        return "\\" + mark, at + 1
    code = int(text[start:end], base)
    return chr(code & 0xFF if base == 8 else min(code, 0x10FFFF)), end
