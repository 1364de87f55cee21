"""Runs code, and sees what it copies between host and devices, creates and frees."""

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from ipyjaxbench.device.live_arrays import LiveArrays
from ipyjaxbench.device.memory_watch import MemoryWatch
from ipyjaxbench.device.protocol import CopyWatch, TransferWatch
from ipyjaxbench.device.transfers import Transfer, Transfers
from ipyjaxbench.frameworks import (
    Compilation,
    Framework,
    earlier_failures_apart,
    find_eager_functions,
    find_reach,
    forget_failures,
    loaded,
    wait_at_end,
)
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import (
    FUNCTION_NODES,
    Namespace,
    Site,
    Source,
    describe_error,
    imports_more,
    instrument_cell,
    instrument_functions,
    names_in,
    remove_hooks,
    run,
    strip_our_frames,
)

#: By identity: a metaclass may define equality.
_NUMBERS = frozenset(map(id, (int, float, bool, str)))
_IN_CODE = "copies inside compiled programs; NumPy arrays that libraries pass to them"
_BODIES = "calls in functions that this cell defines, except array methods that copy"
_AT_CALLS = (
    "NumPy arrays passed to compiled functions, and arrays that NumPy reads in place"
    " (`%%fwdevices` on a cell sees them)"
)


class TransferRecorder:
    """Records copies while the context is open, and the arrays of a namespace before and after."""

    def __init__(self, names: Callable[[], Mapping[str, object]]) -> None:
        self._names, self._clock = names, Clock.elapsed()
        self._memory = MemoryWatch(loaded()[0])
        self._stack, self._apart = ExitStack(), ExitStack()
        self._transfers: dict[Transfer, Transfer] = {}
        self._is_open = False
        self._codes: dict[int, CodeType] = {}
        self._modules = 0
        self._frameworks: list[Framework] = []
        self._readers: list[Compilation] = []  # those that may read code
        self._builders: list[object] = []
        self.watches: dict[str, CopyWatch] = {}
        self._add_new()

    def _add_new(self) -> list[CopyWatch]:
        """Add what was imported since, and return its watches."""
        self._modules = len(sys.modules)
        new = [each for each in loaded()[0] if each not in self._frameworks]
        self._frameworks += new
        readers = [found for each in new if (found := each.capability(Compilation)).reads_code]
        self._readers += readers
        self._builders += [builder for each in readers for builder, _ in each.builders]
        made = {
            each.name: copies(each, self._add)
            for each in new
            if (copies := each.capability(TransferWatch).copies) is not None
        }
        self.watches |= made
        return [*made.values()]

    def __enter__(self) -> "TransferRecorder":
        # What was begun before is none of this code's.
        self._apart.enter_context(earlier_failures_apart(self._frameworks))
        self._before = LiveArrays(self._frameworks, self._names())
        self._memory.__enter__()
        with ExitStack() as stack:
            for watch in self.watches.values():
                stack.enter_context(watch)
            self._stack = stack.pop_all()
        self._is_open = True
        self._start = self._clock.now()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            for each in self._frameworks:
                each.wait_for_devices()
        finally:
            measuring = sum(watch.measuring for watch in self.watches.values())
            self._seconds = (self._clock.now() - self._start - measuring) * 1e-9
            self._is_open = False
            self._stack.close()
            self._memory.__exit__()
            self._apart.close()

    @property
    def is_read(self) -> bool:
        """Whether a framework may read the code of functions, to compile them."""
        return bool(self._readers)

    def hook_into(self, values: Sequence[object]) -> None:
        """Look at the calls of the user's functions that values lead to, until the context ends."""
        compiles = [each.compiles for each in self._readers]
        functions = [*find_eager_functions(values, self._frameworks, compiles)]
        self._codes = {id(f): f.__code__ for f in functions if type(f) is FunctionType}
        self._stack.enter_context(instrument_functions(functions, self, operators=True))

    def pick(self, site: Site, function: Any, /) -> Any:
        """Return what looks at the arguments, and makes the call."""
        return partial(self.call, site, function)

    def call(self, site: Site, function: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        """Make a call; each framework looks at it."""
        __tracebackhide__ = True
        if self._is_open and len(sys.modules) != self._modules:  # the code itself imports
            for watch in self._add_new():
                self._stack.enter_context(watch)
        plain = len(args) == 2 and {id(type(args[0])), id(type(args[1]))} <= _NUMBERS
        if not self._is_open or (plain and not kwargs):  # loops over numbers stay fast
            return function(*args, **kwargs)
        arguments = [*args, *kwargs.values()]
        if any(function is each for each in self._builders):
            self._leave(arguments)
        make = partial(function, *args, **kwargs)
        for watch in self.watches.values():
            make = partial(watch.call, function, arguments, make)
        return make()

    def _leave(self, values: Sequence[object]) -> None:
        """Look no longer into functions that are about to be read, to be compiled."""
        for function in find_reach(values, self._frameworks).functions:
            if type(function) is FunctionType:
                function.__code__ = self._codes.get(id(function), function.__code__)

    def result(self, code: str, error: BaseException | None, *unseen: str) -> Transfers:
        """Return what was seen, once the context has ended."""
        now = LiveArrays(self._frameworks, self._names())
        created, freed = now.created_since(self._before), self._before.freed()
        transfers = tuple(self._transfers.values())
        used = dict.fromkeys(
            [each.framework for each in transfers] + [each.framework for each in created + freed]
        )
        gaps = [gap for name in used if name in self.watches for gap in self.watches[name].gaps]
        return Transfers(
            code=code,
            seconds=self._seconds,
            frameworks={f.name: f.version() for f in self._frameworks if f.name in used},
            transfers=transfers,
            created=created,
            freed=freed,
            memory=self._memory.in_use(),
            peaks=tuple(peak.in_code(code) for peak in self._memory.peaks(created + freed)),
            unseen=(*gaps, *unseen),
            error="" if error is None else describe_error(error),
        )

    def _add(self, transfer: Transfer) -> None:
        key = replace(transfer, nbytes=0, seconds=None, waited=0.0)
        before = self._transfers.get(key)
        self._transfers[key] = transfer if before is None else _merge(before, transfer)


def transfer_code(source: Source, names: Namespace) -> tuple[Transfers, BaseException | None]:
    """Run code in a namespace, and look at what it copies.

    Returns:
        What was seen, and what the code raised; None where it ran to its end.
    """
    __tracebackhide__ = True
    raised: BaseException | None = None
    recorder = TransferRecorder(lambda: names)
    nodes = [*ast.walk(source.tree)]
    defines = any(isinstance(node, FUNCTION_NODES) for node in nodes)
    decorates = any(getattr(node, "decorator_list", ()) for node in nodes)
    is_read = recorder.is_read or imports_more(source.tree)
    code = instrument_cell(
        source, recorder, aside=is_read, operators=True, at_end=wait_at_end(source, names)
    )
    with recorder:
        if not (is_read and decorates):  # it may compile all that it names
            recorder.hook_into([names[name] for name in names_in(code) if name in names])
        try:
            run(code, names)
        except BaseException as error:  # noqa: BLE001  what was seen until then is shown
            raised = error.with_traceback(strip_our_frames(error.__traceback__))
            if isinstance(error, Exception):
                forget_failures(loaded()[0])
        finally:
            remove_hooks([code])
    unseen = (_BODIES, _IN_CODE) if is_read and defines else (_IN_CODE,)
    return recorder.result(source.text.strip(), raised, *unseen), raised


class transfers:  # noqa: N801  used as a function is
    """Record what a ``with`` block copies between host and devices, creates and frees.

    Attributes:
        transfers: the result, once the block has ended.

    Example:
        >>> with transfers() as t:
        ...     pass
        >>> t.transfers.copied
        0
    """

    def __init__(self) -> None:
        self.transfers = Transfers("the block", 0.0)

    def __enter__(self) -> "transfers":
        frame = sys._getframe(1)
        self._recorder = TransferRecorder(lambda: {**frame.f_globals, **frame.f_locals})
        self._recorder.__enter__()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        recorder = self._recorder
        del self._recorder  # a name of the block leads here, and names are looked through
        recorder.__exit__()
        self.transfers = recorder.result("the block", error, _AT_CALLS, _IN_CODE)


def _merge(one: Transfer, other: Transfer) -> Transfer:
    known = one.seconds is not None and other.seconds is not None
    return replace(
        one,
        nbytes=one.nbytes + other.nbytes,
        seconds=(one.seconds or 0.0) + (other.seconds or 0.0) if known else None,
        waited=one.waited + other.waited,
        times=one.times + other.times,
    )
