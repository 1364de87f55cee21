"""Cuts the text of a program into pieces that are shown alike, whatever language it is in."""

import re
from collections.abc import Iterator

#: Kinds of pieces, the first that fits wins. Names and punctuation are of none.
_PIECES = re.compile(
    r"""
      (?P<comment> \#\ .*$ | //.*$ | ^\s*\.\.\..*\.\.\.\s*$ )
    | (?P<string>  "[^"]*" )
    | (?P<type>    (?:bool|bf16|(?:[fiuc]|si|ui|int|uint|float)\d+|key<\w+>|pred)\[[^\]]*\]
                   | tensor<[^>]*> | (?<=:)[fiu]\d+\[\] )
    | (?P<keyword> \b(?:lambda|let|in|return|module|func\.func|ENTRY|HloModule|ROOT)\b )
    | (?P<operation>
        (?<==\ )(?:stablehlo\.|mhlo\.|chlo\.)?"?[A-Za-z_][\w.]*"?(?=[\s\[(])
        | (?<=[}\]]\ )[a-z][\w-]*(?=\() )
    """,
    re.VERBOSE | re.MULTILINE,
)


def split_line(line: str, language: str = "") -> Iterator[tuple[str, str]]:
    """Yield pieces of a line with their kinds; all pieces together are the line.

    Kinds are "comment", "string", "type", "keyword", "operation", "added", "removed" and "".
    "text" is no language, and stays whole.

    Example:
        >>> list(split_line("d:f32[3] = tanh c"))
        [('', 'd:'), ('type', 'f32[3]'), ('', ' = '), ('operation', 'tanh'), ('', ' c')]
    """
    if language == "text":
        yield "", line
        return
    if line[:1] in ("+", "-"):
        yield ("added" if line[0] == "+" else "removed"), line
        return
    end = 0
    for match in _PIECES.finditer(line):
        if match.start() > end:
            yield "", line[end : match.start()]
        yield match.lastgroup or "", match.group()
        end = match.end()
    if end < len(line):
        yield "", line[end:]
