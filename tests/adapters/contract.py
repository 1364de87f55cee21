"""What every adapter must do; each framework's test file runs these on its own adapter."""

import pytest

from ipyjaxbench.device.locate import locate
from ipyjaxbench.device.protocol import (
    ArrayInspector,
    DeviceInventory,
    MemoryMeter,
    TransferWatch,
)
from ipyjaxbench.frameworks import (
    Collectives,
    Compilation,
    Coordination,
    Framework,
    MutableState,
    find_arrays,
    loaded,
)
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.graphs.protocol import GraphTracer
from ipyjaxbench.retracing.protocol import Retracing
from ipyjaxbench.steps.protocol import DeviceWaits
from ipyjaxbench.timing.protocol import Caveats, Profiler
from ipyjaxbench.timing.validity.code_facts import CodeFacts


class Contract:
    """Inherit, and give a framework, an array of shape (2, 3) in float32, and its placement."""

    @pytest.fixture
    def framework(self) -> Framework:
        raise NotImplementedError

    @pytest.fixture
    def array(self) -> object:
        raise NotImplementedError

    devices: tuple[str, ...]

    def test_is_found_once_its_framework_is_imported_and_owns_its_arrays_alone(
        self, framework: Framework, array: object
    ) -> None:
        usable, broken = loaded()
        assert framework in usable
        assert framework.module not in broken
        assert framework.version()[0].isdigit()
        assert framework.alive(array)
        assert framework.owns(type(array))
        assert not any(framework.owns(kind) for kind in (int, float, list, dict, object, type))

    def test_places_an_array_and_locates_it_there(
        self, framework: Framework, array: object
    ) -> None:
        expected = Placement("", framework.name, 1, "float32", (2, 3), self.devices, 24)
        assert framework.placement(array) == expected
        located = framework.capability(ArrayInspector).locate("a", array)
        assert (located.name, located.framework, located.arrays) == ("a", framework.name, 1)
        assert (located.dtype, located.shape) == ("float32", (2, 3))
        assert (located.nbytes, located.devices) == (24, self.devices)
        assert (located.sharding, located.deleted) == (None, False)

    def test_arrays_are_found_wherever_they_are(self, framework: Framework, array: object) -> None:
        class Box:
            pass

        class Slotted:
            __slots__ = ("empty", "held")

        box, slotted = Box(), Slotted()
        box.held = [array]
        slotted.held = array
        for value in (array, [array], {"k": (1, array)}, box, slotted, [box, array, array]):
            assert [found.array is array for found in find_arrays(value, [framework])] == [True]
        for value in (array, [array], {"a": array}, Box(), 1, None, "a", len):
            assert framework.named_parts(value) is None

    def test_a_drain_with_nothing_to_do_comes_back_and_waiters_take_other_values(
        self, framework: Framework, array: object
    ) -> None:
        framework.prepare()
        assert framework.drain() is None
        for value in (array, [array, array]):
            wait = framework.waiter(value, [array])
            for other in (array, None, 1, [array], {"a": array}):
                if wait is not None:
                    wait(other)

    def test_a_profile_runs_what_it_is_given_and_tells_or_says_why_not(
        self, framework: Framework, array: object
    ) -> None:
        runs: list[int] = []
        profile = framework.capability(Profiler).profile(lambda: runs.append(1))
        if profile is None:
            assert runs == []
        else:
            assert runs == [1] or profile.reason
            assert all(i.end >= i.start for i in profile.intervals)

    def test_what_is_raised_under_a_profiler_is_raised(self, framework: Framework) -> None:
        def fail() -> None:
            raise KeyboardInterrupt

        for _ in range(2):  # the second one finds the profiler off again
            try:
                profile = framework.capability(Profiler).profile(fail)
            except KeyboardInterrupt:
                continue
            assert profile is None

    def test_cautions_are_none_where_nothing_is_set(
        self, framework: Framework, array: object
    ) -> None:
        placed = framework.placement(array)
        for seen in (CodeFacts(), CodeFacts(inputs=(placed,), outputs=(placed,))):
            assert list(framework.capability(Caveats).caveats(seen)) == []

    def test_what_it_offers_is_of_the_kind_that_it_is_named_after(
        self, framework: Framework
    ) -> None:
        kinds = {each.__name__: each for each in (
            *(ArrayInspector, Caveats, Collectives, Compilation, Coordination, DeviceInventory),
            DeviceWaits,
            *(GraphTracer, MemoryMeter, MutableState, Profiler, Retracing, TransferWatch),
        )}  # fmt: skip
        assert {*framework.capabilities} <= {*kinds}
        for name in framework.capabilities:
            offered = framework.capability(kinds[name])
            assert isinstance(offered, kinds[name])
            assert type(offered) is not kinds[name]

    def test_of_nothing_nothing_is_compiled(self, framework: Framework) -> None:
        compilation = framework.capability(Compilation)
        with compilation.watch([]) as watch:
            pass
        assert (watch.compilations(), watch.phases(), list(watch.programs())) == (0, {}, [])
        context = compilation.cold_call({}, [])
        if context is not None:
            with context as fresh:
                assert (dict(fresh.stand_ins), list(fresh.caveats)) == ({}, [])

    def test_plain_functions_are_not_compiled(self, framework: Framework) -> None:
        compilation = framework.capability(Compilation)
        assert not compilation.compiles(len)
        assert not compilation.compiles(lambda x: x)
        assert not compilation.donates(len)
        assert compilation.original(len) is None
        assert compilation.work(len, [[1]], {}) is None
        for function, wrapper in compilation.builders:
            assert callable(function)
            assert wrapper in ("", "jax.jit")

    def test_arrays_of_their_own_memory_are_told_apart(
        self, framework: Framework, array: object
    ) -> None:
        other = array + 1  # type: ignore[operator]
        found = locate({"a": array, "b": other, "again": array})
        assert [each.of for each in found.arrays] == ["", "", "a"]
        assert sum(nbytes for _, nbytes in found.by_device().values()) == 2 * 24
        held = framework.capability(ArrayInspector).live_arrays()
        assert all(framework.owns(type(each)) for each in held)

    def test_its_devices_have_names_of_their_own(self, framework: Framework, array: object) -> None:
        inventory = framework.capability(DeviceInventory)
        assert inventory.start()
        home = inventory.devices()
        assert (home.framework, home.version) == (framework.name, framework.version())
        assert home.started
        names = [device.name for device in home.devices]
        assert len(set(names)) == len(names)
        if inventory.has_devices:
            assert set(self.devices) <= set(names)
            assert home.default in names
        else:
            assert names == []

    #: Dtypes in which its probe multiplies here.
    multiplied: tuple[str, ...] = ()

    def test_its_probe_multiplies_matrices_goes_through_arrays_and_copies(
        self, framework: Framework, array: object
    ) -> None:
        probe = framework.capability(DeviceInventory).probe(self.devices[0])
        assert (probe is None) == (not self.multiplied)
        if probe is None:
            return
        assert (probe.device, probe.on_host) == (self.devices[0], True)
        assert probe.dtypes == self.multiplied
        for dtype in probe.dtypes:
            product = probe.product(dtype, 8)()
            assert framework.placement(product).shape == (8, 8)
            assert (framework.capability(ArrayInspector).to_numpy(product) == 8).all()
        (in_place, moved), (read, length) = probe.streams(4096)
        assert moved in (2 * 4096, 3 * 4096)
        assert length == 4096
        total = float(read())  # type: ignore[arg-type]
        in_place()
        assert abs(total) == abs(float(read())) == 1024  # type: ignore[arg-type]
        assert abs(float(probe.smallest_operation()())) == 1  # type: ignore[arg-type]
        if framework.name == "numpy":
            return
        for copied in (probe.upload(100)(), probe.download(100)()):
            found = next(iter(find_arrays(copied, loaded()[0])))
            assert found.framework.placement(found.array).nbytes == 100
