"""The texts of XLA's stages without what they say of this machine: files, lines and frames."""

import re

_FRAMES = re.compile(r"^(FileNames|FunctionNames|FileLocations|StackFrames)\n(.+\n)*", re.MULTILINE)
_METADATA = re.compile(r", (metadata|frontend_attributes)=\{[^{}]*(\{[^{}]*\}[^{}]*)*\}")
_PLACES = re.compile(r"^#loc.*\n?", re.MULTILINE)
_WORDS = r'(?:"[^"]*"|[^()"]'
_IN_BRACKETS = rf"{_WORDS}|\({_WORDS}|\({_WORDS})*\))*\))*"  # of places made of places
_PLACE = re.compile(rf" ?\bloc\({_IN_BRACKETS}\)")


def readable(text: str) -> str:
    """Remove places in files and empty lines from the text of StableHLO or HLO.

    Example:
        >>> readable('%0 = stablehlo.add %a, %b : tensor<f32> loc("/home/me/a.py":3:4)')
        '%0 = stablehlo.add %a, %b : tensor<f32>'
    """
    text = _PLACE.sub("", _PLACES.sub("", _METADATA.sub("", _FRAMES.sub("", text))))
    return "\n".join(line for line in text.strip().splitlines() if line.strip())
