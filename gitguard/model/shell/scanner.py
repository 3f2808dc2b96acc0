"""Takes a shell line apart into the simple commands that it runs, without running anything.

It follows quotes, substitutions, subshells, redirections and here-documents as a POSIX shell and
bash do. What it cannot follow, such as a quote that is never closed, it reads as far as it goes.
Every hook before a shell command reads one, so this loads nothing, not even `re`.
"""

from __future__ import annotations

UNKNOWN = "$"
"""Stands in a word for what a shell would put there."""
_BLANK = " \t\r"
_BARE = frozenset(_BLANK + "\n'\"\\$`;&|<>()}#")
_IN_QUOTES = frozenset('"\\$`')
_ESCAPED_IN_QUOTES = frozenset('"\\$`\n')
_REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">|", ">&", "&>", "<", ">")
"""Longer ones first, since a shell takes the longest."""
_KEYWORDS = frozenset(
    ("if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "fi", "done", "esac")
)
"""Words before which or after which a command begins."""
_EXTENDED_GLOB = frozenset("?*+@!")
_ESCAPE_OR_QUOTE = frozenset("'\"\\")
_BODY = "<<"
"""Closes the frame of a here-document, which ends with its text alone."""
_PROCESS = "/dev/fd/63"
"""What a shell puts in the place of `<(…)` and `>(…)`."""
_MOST_LEVELS = 4
"""Here-documents inside of substitutions inside of here-documents that are read."""


class SimpleCommand:
    """One command of a shell line: its words without their quotes, and what it reads and writes."""

    __slots__ = ("feeder", "input", "truncated", "words", "written")

    def __init__(self, feeder: SimpleCommand | None = None) -> None:
        self.words: list[str] = []
        self.truncated: list[str] = []
        """Files that its redirections empty."""
        self.written: list[str] = []
        """Files that its redirections empty or append to."""
        self.input = ""
        """Its here-documents and here-strings."""
        self.feeder = feeder
        """The command whose output is piped into it."""


def commands_of(line: str) -> list[SimpleCommand]:
    """Return the simple commands of a shell line, those of substitutions as well."""
    scanner = _Scanner(line, closer="")
    commands = scanner.scan()
    bodies = scanner.bodies
    for _ in range(_MOST_LEVELS):
        scanners = [_Scanner(body, closer=_BODY) for body in bodies]
        commands += [command for scanner in scanners for command in scanner.scan()]
        bodies = [body for scanner in scanners for body in scanner.bodies]
    return commands


class _HereDocument:
    """A here-document whose text begins with the next line."""

    def __init__(self, command: SimpleCommand, delimiter: str) -> None:
        self.command = command
        self.delimiter = delimiter
        self.strips_tabs = False
        self.substitutes = True


class _Frame:
    """A level of nesting: the line, a subshell, a substitution, or text that is no command."""

    __slots__ = (
        "cases",
        "closer",
        "command",
        "in_quotes",
        "is_literal",
        "operator",
        "parts",
        "runs",
    )

    def __init__(self, closer: str, *, runs: bool) -> None:
        self.closer = closer
        self.runs = runs
        """Whether its words are commands; those of arithmetic, an array or a test are not."""
        self.command = SimpleCommand()
        self.parts: list[str] | None = None
        """The word that is being read; an empty list is an empty word."""
        self.operator = ""
        """The redirection whose target the word is."""
        self.is_literal = False
        """Whether that target is a quoted delimiter, so that nothing is substituted in the text."""
        self.in_quotes = closer == _BODY
        self.cases = 0
        """How many `case` are open, in which a parenthesis ends a pattern and not the frame."""


class _Scanner:
    """Reads a text once, from its beginning to its end."""

    def __init__(self, text: str, closer: str) -> None:
        self.bodies: list[str] = []
        """Here-documents in which a shell substitutes."""
        self._text = text
        self._at = 0
        self._frame = _Frame(closer, runs=True)
        self._outer: list[_Frame] = []
        self._commands: list[SimpleCommand] = []
        self._awaited: list[_HereDocument] = []

    def scan(self) -> list[SimpleCommand]:
        """Return the commands of the text."""
        text, end = self._text, len(self._text)
        while self._at < end:
            is_quoted = self._frame.in_quotes
            specials = _IN_QUOTES if is_quoted else _BARE
            start = at = self._at
            while at < end and text[at] not in specials:
                at += 1
            if at > start:
                self._at = at
                self._add(text[start:at])
            elif is_quoted:
                self._read_in_quotes(text[at])
            else:
                self._read_bare(text[at])
        while self._outer:
            self._close()
        self._finish_command()
        return self._commands

    def _read_in_quotes(self, character: str) -> None:
        if character == "\\":
            following = self._text[self._at + 1 : self._at + 2]
            self._at += 2
            if following != "\n":
                self._add(following if following in _ESCAPED_IN_QUOTES else "\\" + following)
        elif character == '"':
            self._at += 1
            if self._frame.closer == _BODY:
                self._add(character)
            else:
                self._frame.in_quotes = False
        elif character == "$":
            self._read_dollar()
        else:
            self._read_backtick()

    def _read_bare(self, character: str) -> None:
        if character in "<>" or (character == "&" and self._text.startswith("&>", self._at)):
            self._read_redirection()
        elif character == "$":
            self._read_dollar()
        elif character == "(":
            self._read_parenthesis()
        elif character == "`":
            self._read_backtick()
        elif character in "'\\":
            self._read_quoted(character)
        else:
            self._at += 1
            if character in _BLANK:
                self._finish_word()
            elif character == '"':
                self._add("")
                self._frame.in_quotes = True
            elif character in ";&|\n":
                self._read_separator(character)
            else:
                self._read_closer(character)

    def _read_quoted(self, mark: str) -> None:
        if mark == "\\":
            following = self._text[self._at + 1 : self._at + 2]
            self._at += 2
            if following != "\n":
                self._add(following)
            return
        end = self._text.find("'", self._at + 1)
        end = len(self._text) if end < 0 else end
        self._add(self._text[self._at + 1 : end])
        self._at = end + 1

    def _read_separator(self, character: str) -> None:
        following = self._text[self._at : self._at + 1]
        is_pipe = character == "|" and following != "|"
        second = "&" if is_pipe else character.strip()
        if second and following == second:
            self._at += 1
        self._finish_command(is_pipe=is_pipe)
        if character == "\n":
            awaited, self._awaited = self._awaited, []
            for document in awaited:
                self._read_body(document)

    def _read_closer(self, character: str) -> None:
        """Read a parenthesis or brace that closes, or what may begin a comment."""
        frame = self._frame
        if character == ")" and (frame.runs or frame.closer == "]]"):
            self._finish_word()  # which may end a `case` or a test
            frame = self._frame
        if character == "#":
            if frame.parts is None and frame.closer != "}":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                self._add(character)
        elif character == frame.closer and not frame.cases:
            self._close()
        elif character == ")" and frame.runs:
            self._finish_command()
        else:
            self._add(character)

    def _read_dollar(self) -> None:
        text, at = self._text, self._at
        following = text[at + 1 : at + 2]
        if following == "(":
            self._add(UNKNOWN)
            self._at = at + 2
            self._open(")", runs=text[at + 2 : at + 3] != "(")
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
        text = self._text
        start = end = self._at + 2
        while text[end : end + 1].isalnum() or text[end : end + 1] == "_":
            end += 1
        self._add(UNKNOWN + text[start:end])
        self._at = end
        self._open("}", runs=False)

    def _read_escapes(self) -> None:
        r"""Read `$'…'`, in which a backslash escapes; escapes stay as they are written."""
        text = self._text
        start = end = self._at + 1
        while end < len(text) and text[end] != "'":
            end += 2 if text[end] == "\\" else 1
        self._add(text[start:end])
        self._at = end + 1

    def _read_backtick(self) -> None:
        self._at += 1
        if self._frame.closer == "`":
            self._close()
        else:
            self._add(UNKNOWN)
            self._open("`", runs=True)

    def _read_parenthesis(self) -> None:
        frame = self._frame
        word = None if frame.parts is None else "".join(frame.parts)
        self._at += 1
        if not frame.runs or (word and word.endswith("=")):
            self._open(")", runs=False)
        elif word and word[-1] in _EXTENDED_GLOB:
            self._add("*")
            self._open(")", runs=False)
        else:
            is_arithmetic = (
                word is None and not frame.command.words and self._text.startswith("(", self._at)
            )
            self._finish_command()
            self._open(")", runs=not is_arithmetic)

    def _read_redirection(self) -> None:
        text, at, frame = self._text, self._at, self._frame
        if not frame.runs:
            self._add(text[at])
            self._at = at + 1
            return
        if frame.parts is not None:
            descriptor = "".join(frame.parts)
            if descriptor.isdigit() or (descriptor[:1] == "{" and descriptor[-1:] == "}"):
                frame.parts = None
            else:
                self._finish_word()
        if text.startswith("(", at + 1) and text[at] != "&":
            self._add(_PROCESS)
            self._at = at + 2
            self._open(")", runs=True)
            return
        frame.operator = next(sign for sign in _REDIRECTIONS if text.startswith(sign, at))
        self._at = at = at + len(frame.operator)
        while text[at : at + 1] in (" ", "\t"):
            at += 1
        frame.is_literal = text[at : at + 1] in _ESCAPE_OR_QUOTE

    def _read_body(self, document: _HereDocument) -> None:
        text, start = self._text, self._at
        at, end = start, len(text)
        while at < end:
            line_end = text.find("\n", at)
            line_end = end if line_end < 0 else line_end
            line = text[at:line_end]
            if (line.lstrip("\t") if document.strips_tabs else line) == document.delimiter:
                break
            at = line_end + 1
        else:
            line_end = end
        body = text[start:at]
        self._at = line_end + 1
        document.command.input += body
        if document.substitutes and ("$(" in body or "`" in body):
            self.bodies.append(body)

    def _add(self, part: str) -> None:
        if self._frame.parts is None:
            self._frame.parts = [part]
        else:
            self._frame.parts.append(part)

    def _open(self, closer: str, *, runs: bool) -> None:
        self._outer.append(self._frame)
        self._frame = _Frame(closer, runs=runs)

    def _close(self) -> None:
        self._finish_command()
        # A test that is never ended is closed with the word that ends its frame.
        if self._outer:
            self._frame = self._outer.pop()

    def _finish_word(self) -> None:
        frame = self._frame
        if frame.parts is None:
            return
        word = "".join(frame.parts)
        frame.parts = None
        if frame.operator:
            operator, frame.operator = frame.operator, ""
            self._redirect(operator, word)
        elif frame.runs:
            if frame.command.words or word not in _KEYWORDS:
                frame.command.words.append(word)
            elif word == "esac" and frame.cases:
                frame.cases -= 1
            if word == "case" and len(frame.command.words) == 1:
                frame.cases += 1
            if word == "[[" and len(frame.command.words) == 1:
                self._open("]]", runs=False)
        elif word == frame.closer == "]]":
            self._close()

    def _redirect(self, operator: str, target: str) -> None:
        command = self._frame.command
        is_descriptor = target == "-" or target.rstrip("-").isdigit()
        if operator in (">", ">|", "&>") or (operator == ">&" and not is_descriptor):
            command.truncated.append(target)
            command.written.append(target)
        elif operator in (">>", "&>>", "<>"):
            command.written.append(target)
        elif operator == "<<<":
            command.input += target + "\n"
        elif operator in ("<<", "<<-"):
            document = _HereDocument(command, target)
            document.strips_tabs = operator == "<<-"
            document.substitutes = not self._frame.is_literal
            self._awaited.append(document)

    def _finish_command(self, *, is_pipe: bool = False) -> None:
        self._finish_word()
        frame = self._frame
        frame.operator = ""
        command = frame.command
        if command.words or command.written:
            if frame.runs:
                self._commands.append(command)
            frame.command = SimpleCommand(feeder=command if is_pipe else None)
