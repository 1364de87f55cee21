"""Hooks of modules that a program was made without: dynamo does not look for them again.

What it notes of the modules that a program calls is asked again here; see `called_modules`.
"""

import sys
from collections.abc import Iterable, Sequence
from types import FrameType, FunctionType
from typing import Any, NamedTuple

from ipyjaxbench.adapters.torch.hook_numbers import is_any_registered, next_hook
from ipyjaxbench.adapters.torch.retracing import called_modules, guards
from ipyjaxbench.adapters.torch.retracing.callee import Entered, entries, own_entries
from ipyjaxbench.adapters.torch.retracing.global_hooks import HOOK, lacking_kinds
from ipyjaxbench.adapters.torch.retracing.module_names import typed
from ipyjaxbench.adapters.torch.retracing.unseen_hooks import hooked_unseen
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Change
from ipyjaxbench.usercode import token

_SHOWN = 2  # modules that are named
_OF_MODULES = "_call_impl", "inner"  # code that calls `forward`; the latter where there are hooks
_REST = "__resume_at"  # begins what dynamo calls the rest of a function
_RENEW = "Call `torch.compiler.reset()`"


class Lacking(NamedTuple):
    """What programs of a call were made without.

    Attributes:
        modules: that have hooks which they lack, as the user types them.
        kinds: of hooks of all modules, of which they have none.
        unknown: what has hooks which they may lack.
    """

    modules: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def with_parts(self, parts: Iterable["Lacking"]) -> "Lacking":
        """Return the same of it and of others together."""
        fields = zip(self, *parts, strict=True)
        return Lacking(*(tuple(dict.fromkeys(sum(each, ()))) for each in fields))


_NOTHING = Lacking()
#: What the last call was given that lacked none, and the number of the next hook, likewise.
_lacks_none: dict[int, tuple[int, ...]] = {}


def changes(name: str, lacking: Lacking) -> tuple[Change, ...]:
    """Return in words what the program of a cached call lacks, by the name of what was compiled."""
    found = []
    if lacking.modules:
        verb = "have" if len(lacking.modules) > 1 else "has"
        new = f"{_listed(lacking.modules)} {verb} hooks that the program of {name} lacks"
        found.append(Change("stale", new=new))
    if lacking.kinds:
        new = f"({', '.join(lacking.kinds)}) has come that the program of {name} lacks"
        found.append(Change("stale", HOOK, new=new))
    return tuple(found)


def unknown(name: str, lacking: Lacking) -> str:
    """Return in words what nobody knows of the program of a cached call."""
    if not lacking.unknown:
        return ""
    named = _listed(lacking.unknown)
    return f"whether {name} runs the hooks of {named}: its compilation was not seen. {_RENEW}"


def lacking_in_call(entered: Entered) -> Lacking:
    """Return what the program that a call finds was made without."""
    return _lacking_of(entered, guards.found(entered))


def lacking_in_latest(name: str, function: Any) -> tuple[Change, ...]:
    """Return in words the same of the program that ran last, where the arguments are not known."""
    entered = may_be_any() and Entered.from_function(function)
    if not entered:
        return ()
    return changes(name, _lacking_of(entered, next(iter(own_entries(entered)), None)))


def lacking_in_part(frame: FrameType) -> Lacking:
    """Return the same of what PyTorch compiles apart after a break, from within dynamo's hook.

    Args:
        frame: that calls the part: a module, or the rest of a function.
    """
    names, code = frame.f_locals, frame.f_code
    if code.co_name in _OF_MODULES and isinstance(names.get("args"), tuple):
        module = names.get("self")
        entered = Entered.from_call(module, names["args"], names.get("kwargs") or {})
        return _NOTHING if entered is None else lacking_in_call(entered)
    rests = [name for name in code.co_names if name.startswith(_REST)]
    rest = frame.f_globals.get(rests[0]) if len(rests) == 1 else None
    if type(rest) is not FunctionType:
        return _NOTHING
    programs = entries(rest.__code__)
    if len(programs) != 1:  # which of several it finds, the values on the stack decide
        return _NOTHING
    return _lacking(programs[0], dict(names), frame.f_globals)


def may_be_any() -> bool:
    """Whether any hook was registered; it costs nothing."""
    return is_any_registered()


def _lacking_of(entered: Entered, program: Any) -> Lacking:
    if program is None:
        return _NOTHING
    return _lacking(program, dict(entered.names), entered.function.__globals__)


def _lacking(program: Any, names: dict[str, Any], around: dict[str, Any]) -> Lacking:
    """Return what a program lacks.

    Args:
        program: dynamo's.
        names: the local variables.
        around: the global ones.
    """
    made, asked = token(program.code), (next_hook(), *map(id, names.values()))
    if _lacks_none.get(made) == asked:
        return _NOTHING
    called, scope = called_modules.called_by(made), {"L": names, "G": around}
    if called is None:
        found = _unseen(program, scope)
    else:
        paths = () if _are_guarded() else _hooked(called, scope)
        found = Lacking(_typed(paths, scope), tuple(lacking_kinds(made)))
    if found == _NOTHING:
        _lacks_none[made] = asked
    return found


def _hooked(called: called_modules.Called, scope: dict[str, Any]) -> Sequence[str]:
    try:
        have_hooks = eval(called.have_hooks, {}, scope)
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()
    return [path for path, has_some in zip(called.paths, have_hooks, strict=True) if has_some]


def _unseen(program: Any, scope: dict[str, Any]) -> Lacking:
    paths, kinds = hooked_unseen(program, scope)
    modules = () if _are_guarded() else _typed(paths, scope)
    of_all = [f"all modules ({', '.join(kinds)})"] if kinds else []
    return Lacking(unknown=(*modules, *of_all))


def _typed(paths: Sequence[str], scope: dict[str, Any]) -> tuple[str, ...]:
    """Return the first as they are typed; the others are counted."""
    return (*(typed(path, scope) for path in paths[:_SHOWN]), *paths[_SHOWN:])


def _listed(named: Sequence[str]) -> str:
    """Return the first names, and how many others there are."""
    others = len(named) - _SHOWN
    more = [f"{others} other{'s' * (others > 1)}"] if others > 0 else []
    shown = [*named[:_SHOWN], *more]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def _are_guarded() -> bool:
    """Whether the user has dynamo look for them."""
    return not getattr(sys.modules.get("torch._dynamo.config"), "skip_nnmodule_hook_guards", False)
