"""What the user wrote, of what `tf.function` gave."""

from functools import partial
from types import FunctionType, MethodType
from typing import Any

from ipyjaxbench.adapters.shared.define_again import define_again
from ipyjaxbench.usercode import (
    assignment_of,
    closure_values,
    is_exactly,
    is_users_class,
    name_of,
    reads_itself,
    unwrap,
)

_STRATEGY = "tensorflow.python.distribute.mirrored_run"


def python_function(function: Any) -> Any:
    """Return what `tf.function` was given; any other function as it is.

    `tf.distribute` puts a function of its own around one that it is to run on several devices.
    """
    plain = getattr(function, "python_function", function)
    if type(plain) is FunctionType and plain.__module__ == _STRATEGY:
        inner = dict(closure_values(plain)).get("fn")  # private, and as it is where it moved
        return getattr(inner, "python_function", plain)
    return plain


def plain_function(function: Any) -> Any:
    """Return what the user wrote."""
    plain = unwrap(python_function(function))
    return plain.__func__ if isinstance(plain, MethodType) else plain


def how_to_define_again(function: Any) -> str:
    """Return what to do for a function of the same code that has no trace yet."""
    plain = plain_function(function)
    made = assignment_of(function)
    if "tf.function(" in made and not reads_itself(made):  # each has traces of its own
        return f"run `{made}` again"
    owner = owner_of(function)
    if owner is not None and is_users_class(type(owner)):  # each object has functions of its own
        made = assignment_of(owner)
        return (
            f"run `{made}` again" if made else f"make the object of `{name_of(type(owner))}` anew"
        )
    if is_exactly(plain, partial):
        return f"call `tf.function` on a new partial of `{name_of(plain.func)}`"
    if type(plain) is not FunctionType:  # an object that is called
        return f"call `tf.function` on a new `{name_of(type(plain))}`"
    return define_again(plain, function, f"`{plain.__name__}`", "tf.function", "`")


def owner_of(function: Any) -> Any | None:
    """Return the object whose method it is: TensorFlow makes a function for each object."""
    plain = unwrap(python_function(function))
    target = getattr(getattr(plain, "__self__", None), "weakrefself_target__", None)
    return target() if target is not None else None


def file_of(function: Any) -> str:
    """Return where it was written; empty where that is not known."""
    return getattr(getattr(plain_function(function), "__code__", None), "co_filename", "")


def display_name(function: Any) -> str:
    """Return what the user calls a function; a decorated ``__call__`` by its class."""
    plain, owner = plain_function(function), owner_of(function)
    name = getattr(plain, "__name__", None) or type(plain).__name__
    is_call = owner is not None and name in ("__call__", "call")
    return type(owner).__name__ if is_call else str(name)
