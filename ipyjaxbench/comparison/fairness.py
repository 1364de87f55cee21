"""Whether arms do the same work on the same data under the same conditions."""

import itertools
import numbers
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ipyjaxbench import units
from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.numerics import (
    NO_NUMBERS,
    Numbers,
    copy_numbers,
    difference,
    numbers_of,
)
from ipyjaxbench.device import ArrayInspector, DeviceInventory, name_of_chip
from ipyjaxbench.frameworks import (
    Compilation,
    Framework,
    Placement,
    Scope,
    find_arrays,
    find_compiler,
    loaded,
)
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import find_builder, product_format
from ipyjaxbench.usercode import (
    ask,
    is_of,
    is_users_function,
    name_of,
    names_in,
    package_of,
    text_of,
)

_COMPARABLE = (numbers.Number, str, bytes)
_EQUAL = "same results"
_MIN_REPORTED_TOLERANCE = 1e-5  # smaller tolerances are not reported


@dataclass(frozen=True)
class ArmFacts:
    """What is known of one arm."""

    scope: Scope  # its code and what that reads
    outputs: Sequence[Placement]  # where the values live that it gave
    value: Any  # what its first call gave
    notes: Sequence[Note] = ()  # on what its calls do


_Findings = Iterator[str | Note]  # what is the same in all arms, in words, and what is not


def check_fairness(arms: Mapping[str, ArmFacts]) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Return what is equal in all arms, in words, and a Note for each difference."""
    if len(arms) < 2:
        return (), ()
    frameworks, _ = loaded()
    found = list(_outputs(arms, frameworks))
    # Arms may read the same data in another order, and then give the same.
    if not any(isinstance(each, str) for each in found):
        found += _inputs(arms, frameworks)
    for check in (_conditions, _precision, _compiled, _alone):
        found += check(arms, frameworks)
    equal = tuple(each for each in found if isinstance(each, str))
    return equal, tuple(each for each in found if isinstance(each, Note))


def _outputs(arms: Mapping[str, ArmFacts], frameworks: Sequence[Framework]) -> _Findings:
    """Compare values with those of the first arm, moved to the host."""
    arrays = {label: _arrays(arm.value, frameworks) for label, arm in arms.items()}
    if not any(arrays.values()) and not all(_listed_numbers(arm.value) for arm in arms.values()):
        yield from _plain_outputs(arms)
        return
    (base, first), *others = ((n, arrays[n] or _numbers(arm.value)) for n, arm in arms.items())
    differences = {label: difference(first, theirs) for label, theirs in others}
    for label, found in differences.items():
        if found.matters:
            yield notes.other_result(label, base, found.how)
    unseen = {label: each.unseen for label, each in differences.items() if each.unseen}
    if unseen:
        yield notes.not_compared(_and((base, *unseen)), next(iter(unseen.values())))
    elif not any(each.matters for each in differences.values()):
        allowed = max(each.allowed for each in differences.values())
        exact, coarse = not any(d.off for d in differences.values()), _MIN_REPORTED_TOLERANCE
        within = f"within {units.percent(allowed)}" if allowed > coarse else "up to rounding"
        yield _EQUAL if exact else f"{_EQUAL} {within}"


def _and(labels: Sequence[str]) -> str:
    *first, last = labels
    return f"{', '.join(first)} and {last}" if first else last


def _numbers(value: Any) -> list[Numbers]:
    """Return a number, or a list of them, of one arm where others give arrays."""
    return [numbers_of(value)] if _is(value, numbers.Number) else _listed_numbers(value)


def _listed_numbers(value: Any) -> list[Numbers]:
    """Return a list of numbers, such as the losses and metrics that Keras gives; else nothing."""
    listed = value if is_of(value, list, tuple) else ()
    plain = bool(listed) and all(_is(each, numbers.Number) for each in listed)
    return [numbers_of(value)] if plain else []


def _is(value: object, *kinds: type) -> bool:
    """Whether a value is of one of these kinds; not where it raises when it is asked."""
    return ask(lambda user_value: isinstance(user_value, kinds), value)


def _plain_outputs(arms: Mapping[str, ArmFacts]) -> _Findings:
    """Compare numbers and strings; what else there is would run code of its own."""
    (base, first), *others = ((label, arm.value) for label, arm in arms.items())
    if all(arm.value is None for arm in arms.values()):
        return
    if not all(_is(arm.value, *_COMPARABLE) for arm in arms.values()):
        yield notes.not_compared(_and(tuple(arms)), NO_NUMBERS)
        return
    wrong = [label for label, value in others if not _same(value, first)]
    yield from (notes.other_result(label, base, "") for label in wrong)
    if not wrong:
        yield _EQUAL


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, numbers.Real) and isinstance(other, numbers.Real):
        return not difference(_numbers(one), _numbers(other)).matters
    return bool(one == other)


class _Frozen(NamedTuple):
    """The arrays in a value as they were at one moment."""

    arrays: list[Numbers]


def freeze(value: Any, frameworks: Sequence[Framework]) -> Any:
    """Return a value that stays as it is now, to be compared: copies of the arrays in it."""
    found = _arrays(value, frameworks)
    return _Frozen([copy_numbers(each) for each in found]) if found else value


def _arrays(value: Any, frameworks: Sequence[Framework]) -> list[Numbers]:
    """Return the arrays in a value that were not given away."""
    if type(value) is _Frozen:
        return value.arrays
    found = []
    for framework, array in find_arrays(value, frameworks):
        if framework.alive(array):
            place = framework.placement(array)
            read = partial(framework.capability(ArrayInspector).to_numpy, array)
            found.append(Numbers(place.shape, place.dtype, place.nbytes, read))
    return found


def _inputs(arms: Mapping[str, ArmFacts], frameworks: Sequence[Framework]) -> _Findings:
    """Compare the data that arms read, one array after the other."""
    (base, first), *others = (
        (label, {n: v for n, v in arm.scope.read_values.items() if _arrays(v, frameworks)})
        for label, arm in arms.items()
    )
    for label, theirs in others:
        for (base_name, a), (name, b) in zip(first.items(), theirs.items(), strict=False):
            if a is b:
                continue
            found = difference(_arrays(a, frameworks), _arrays(b, frameworks))
            if found.matters and not found.why:
                yield notes.other_data(label, name, base, base_name)


def _conditions(arms: Mapping[str, ArmFacts], frameworks: Sequence[Framework]) -> _Findings:
    """Compare dtypes and devices of the results, and threads on the CPU."""
    for read, note_on, everywhere in _CONDITIONS:
        facts = {n: ", ".join(sorted(read(arm, frameworks))) for n, arm in arms.items()}
        known = {label: words for label, words in facts.items() if words}
        if len(set(known.values())) == 1 and len(known) == len(facts):
            yield next(iter(known.values())) + everywhere
        elif len(set(known.values())) > 1:
            yield note_on(_by_value(known))


def _by_value(words: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the labels that have each value."""
    groups = itertools.groupby(sorted(words, key=words.__getitem__), words.__getitem__)
    return {value: list(labels) for value, labels in groups}


def _precision(arms: Mapping[str, ArmFacts], _: Sequence[Framework]) -> _Findings:
    """Compare how products of float32 are computed, where one of them rounds."""
    formats = {
        label: product_format(arm.notes)
        for label, arm in arms.items()
        if any(place.dtype == "float32" for place in (*arm.scope.inputs, *arm.outputs))
    }
    if any(formats.values()) and len(set(formats.values())) > 1:
        named = {label: name or "float32" for label, name in formats.items()}
        yield notes.other_precision(_by_value(named))


def _dtypes(arm: ArmFacts, _: Sequence[Framework]) -> set[str]:
    """Return the dtypes of results; a NumPy scalar is no array, and has one too."""
    found = {place.dtype for place in arm.outputs}
    if not found and type(arm.value).__module__ == "numpy" and _is(arm.value, numbers.Number):
        found = {numbers_of(arm.value).dtype}
    return found


def _devices(arm: ArmFacts, frameworks: Sequence[Framework]) -> set[str]:
    """Return on which chips the results are, by names that are the same for all frameworks."""
    chips = {f.name: f.capability(DeviceInventory).chip for f in frameworks}
    return {
        chips.get(place.framework, name_of_chip)(device)
        for place in arm.outputs
        for device in place.devices
    }


def _threads(arm: ArmFacts, frameworks: Sequence[Framework]) -> set[str]:
    in_play = arm.scope.find_frameworks(frameworks, arm.outputs)
    counts = {framework.capability(DeviceInventory).threads() for framework in in_play}
    return {str(count) for count in counts if count}


#: How to read what is to be the same in all arms, the Note where it is not, and what to add
#: where it is.
_CONDITIONS = (
    (_dtypes, notes.other_dtype, ""),
    (_devices, notes.other_device, ""),
    (_threads, notes.other_threads, " threads each"),
)


def _compiled(arms: Mapping[str, ArmFacts], frameworks: Sequence[Framework]) -> _Findings:
    """Note where some of a framework's arms are compiled and others are not."""
    for framework in frameworks:
        by_arm = {
            label: _is_compiled(arm.scope, framework)
            for label, arm in arms.items()
            if framework in arm.scope.find_frameworks(frameworks, arm.outputs)
        }
        eager = [label for label, compiled in by_arm.items() if compiled is False]
        compiled = [label for label, compiled in by_arm.items() if compiled]
        if eager and compiled:
            yield notes.eager_beside_compiled(eager, compiled)


def _is_compiled(scope: Scope, framework: Framework) -> bool | None:
    """Whether code calls, or makes, what a framework compiles; None where a function may make it.

    What a framework compiled for itself is none of the user's.
    """
    called = (f for f in scope.compiled if find_compiler(f, [framework]) is not None)
    if not all(_is_of_framework(f, framework) for f in called):
        return True
    built = find_builder(scope, [framework])
    if built is not None and not built.wrapper:
        return True
    builders = framework.capability(Compilation).builders
    names = {name_of(builder) for builder, wrapper in builders if not wrapper}
    codes = (f.__code__ for f in scope.functions if is_users_function(f))
    used = ({*names_in(code), *code.co_freevars} for code in codes)
    return False if all(map(names.isdisjoint, used)) else None


def _is_of_framework(function: object, framework: Framework) -> bool:
    """Whether it is what a module of the framework has under its name, such as `jnp.dot`."""
    if package_of(function) != framework.module:
        return False
    module = sys.modules.get(text_of(function, "__module__"))
    return module is not None and vars(module).get(name_of(function)) is function


#: Notes on what an arm does that are fair where all arms do it, and what is said where not.
_FAIR_IF_ALL = {"copies": notes.copies_alone, "half-product": notes.half_alone}


def _alone(arms: Mapping[str, ArmFacts], _: Sequence[Framework]) -> _Findings:
    """Note what not all arms do."""
    for code, note_on in _FAIR_IF_ALL.items():
        by_arm = {label: [n for n in arm.notes if n.code == code] for label, arm in arms.items()}
        if not all(by_arm.values()):
            yield from (note_on(label, note) for label, these in by_arm.items() for note in these)
