"""The call that the user made, by the frames around one of JAX's own."""

import sys
from collections.abc import Iterator
from traceback import walk_stack
from types import FrameType, FunctionType

from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.usercode import PACKAGE, is_exactly, is_users_file, module_of, unwrap

#: Defines what Keras jits for a user's model, as `predict_step` (private).
KERAS_STEPS = "keras.src.backend.jax.trainer"


def user_call(called: Called, frame: FrameType) -> tuple[Called, frozenset[int | str]]:
    """Return the call that the user made, which leads to another one, and what is static in it.

    It is that of a library's wrapper, or of what `jax.grad` or `jax.pmap` made.

    Args:
        called: what JAX runs.
        frame: of JAX, or of what JAX tells of the call.
    """
    static = called.static or frozenset()
    for each in _until_users(frame):
        names = {**each.f_locals}  # from Python 3.13 on it is no dict
        wrapper = next((names[n] for n in ("self", "jit_wrapper") if n in names), None)
        mapping = names.get("infer_params")
        if type(wrapper).__module__ in callee.WRAPPERS and {"args", "kwargs"} <= set(names):
            called = Called(wrapper, names["args"], names["kwargs"])
            static = callee.static_arguments(wrapper)
        elif type(mapping) is FunctionType and {"args", "kwargs"} <= set(names):
            function, static = callee.mapped_function(mapping)
            called = Called(function, names["args"], names["kwargs"], "pmap")
        else:
            called = _transformed_call(each, called)
    return called, static


def _transformed_call(frame: FrameType, inner: Called) -> Called:
    """Return the call around another one, where a frame runs what a transformation made."""
    name, within, _ = frame.f_code.co_qualname.partition(".<locals>.")
    names = {**frame.f_locals}
    is_made = within and frame.f_code.co_filename.endswith("api.py")
    if not is_made or not {"args", "kwargs"} <= set(names):
        return inner
    function, args, kwargs, known, *_ = inner
    if "fun" not in names:  # it goes on in another one, as `grad` does in `value_and_grad`
        return inner._replace(transformation=name) if known else inner
    if callee.plain_of(names["fun"]) is not callee.plain_of(function):
        return inner
    if name == "vmap":
        name, args, kwargs = callee.per_example(names.get("in_axes", 0), names["args"],
                                              names["kwargs"])  # fmt: skip
    elif not known:
        args, kwargs = names["args"], names["kwargs"]
    names_of_both = " of ".join(filter(None, (name, known)))
    return inner._replace(args=args, kwargs=kwargs, transformation=names_of_both)


def is_the_users(called: Called, frame: FrameType) -> bool:
    """Whether the user jitted a function; what libraries jit for themselves is no news."""
    plain = callee.plain_of(called.function)
    code = getattr(plain, "__code__", None)
    if code is None:  # an object that is called; JAX calls some of its own
        return module_of(type(plain)).partition(".")[0] != "jax"
    if is_users_file(code.co_filename):
        return True
    if code.co_filename.startswith(PACKAGE):
        return False
    if getattr(plain, "__module__", "") == KERAS_STEPS:
        return True
    if is_exactly(called.function, *callee.JITTED) or called.function is not plain:
        return True  # as in jax.jit(jnp.sin): the library's own jit would have the plain function
    by_user = next(_until_users(frame), None) is None
    module = sys.modules.get(getattr(plain, "__module__", ""))
    own = unwrap(getattr(module, callee.display_name(plain), None) or len)
    return by_user and (own is not plain or getattr(module, callee.display_name(plain)) is plain)


def _until_users(frame: FrameType) -> Iterator[FrameType]:
    """Yield frames of libraries around one of JAX's own, outward, up to the user's code or ours."""
    for around, _ in walk_stack(frame.f_back):
        file = around.f_code.co_filename
        if is_users_file(file) or file.startswith(PACKAGE):
            return
        if not around.f_code.co_filename.endswith("traceback_util.py"):
            yield around
