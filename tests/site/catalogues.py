"""Reading .po files, for the tests of translations."""

import ast
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Message:
    """One entry: `msgstr` holds one text, or as many as the language has plural forms."""

    flags: set[str] = field(default_factory=set)
    msgctxt: str = ""
    msgid: str = ""
    msgid_plural: str = ""
    msgstr: list[str] = field(default_factory=list)

    @property
    def is_translated(self) -> bool:
        return all(self.msgstr)


def read_catalogue(path: Path) -> list[Message]:
    """Every message but the header, in the file's order."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    messages = [read_message(block) for block in blocks if block.strip()]
    return [message for message in messages if message.msgid]


def read_message(block: str) -> Message:
    message, name = Message(), ""
    for line in block.strip().splitlines():
        if line.startswith("#,"):
            message.flags |= {flag.strip() for flag in line[2:].split(",")}
        elif not line.startswith("#"):
            keyword, _, quoted = line.partition('"')
            name = keyword.strip() or name
            add_text(message, name.partition("[")[0], ast.literal_eval(f'"{quoted}'), keyword)
    return message


def add_text(message: Message, name: str, text: str, keyword: str) -> None:
    """`keyword` is empty on the lines that continue a text."""
    if name != "msgstr":
        setattr(message, name, getattr(message, name) + text)
    elif keyword:
        message.msgstr.append(text)
    else:
        message.msgstr[-1] += text
