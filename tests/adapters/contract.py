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

    def test_is_found_once_its_framework_is_imported(self, framework: Framework) -> None:
        usable, broken = loaded()
        assert framework in usable
        assert framework.module not in broken

    def test_tells_its_version(self, framework: Framework) -> None:
        assert framework.version()[0].isdigit()

    def test_owns_its_arrays_and_nothing_else(self, framework: Framework, array: object) -> None:
        assert framework.owns(type(array))
        assert not any(framework.owns(kind) for kind in (int, float, list, dict, object, type))

    def test_places_an_array(self, framework: Framework, array: object) -> None:
        expected = Placement("", framework.name, 1, "float32", (2, 3), self.devices, 24)
        assert framework.placement(array) == expected

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

    def test_a_drain_with_nothing_to_do_comes_back(self, framework: Framework) -> None:
        framework.prepare()
        assert framework.drain() is None

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

    def test_a_fresh_array_is_alive(self, framework: Framework, array: object) -> None:
        assert framework.alive(array)

    def test_cautions_are_none_where_nothing_is_set(
        self, framework: Framework, array: object
    ) -> None:
        placed = framework.placement(array)
        for seen in (CodeFacts(), CodeFacts(inputs=(placed,), outputs=(placed,))):
            assert list(framework.capability(Caveats).caveats(seen)) == []

    def test_waiters_take_values_of_other_kinds(self, framework: Framework, array: object) -> None:
        for value in (array, [array, array]):
            wait = framework.waiter(value, [array])
            for other in (array, None, 1, [array], {"a": array}):
                if wait is not None:
                    wait(other)

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

    def test_a_watch_over_nothing_sees_nothing(self, framework: Framework) -> None:
        with framework.capability(Compilation).watch([]) as watch:
            pass
        assert watch.compilations() == 0
        assert watch.phases() == {}
        assert list(watch.programs()) == []

    def test_a_cold_call_of_nothing_binds_and_tells_nothing(self, framework: Framework) -> None:
        context = framework.capability(Compilation).cold_call({}, [])
        if context is not None:
            with context as fresh:
                assert dict(fresh.stand_ins) == {}
                assert list(fresh.caveats) == []

    def test_plain_functions_are_not_compiled(self, framework: Framework) -> None:
        assert not framework.capability(Compilation).compiles(len)
        assert not framework.capability(Compilation).compiles(lambda x: x)
        assert not framework.capability(Compilation).donates(len)
        assert framework.capability(Compilation).original(len) is None
        assert framework.capability(Compilation).work(len, [[1]], {}) is None

    def test_its_builders_are_its_own_functions(self, framework: Framework) -> None:
        for function, wrapper in framework.capability(Compilation).builders:
            assert callable(function)
            assert wrapper in ("", "jax.jit")

    def test_locates_an_array_as_it_places_it(self, framework: Framework, array: object) -> None:
        placed, located = (
            framework.placement(array),
            framework.capability(ArrayInspector).locate("a", array),
        )
        assert (located.name, located.framework, located.arrays) == ("a", framework.name, 1)
        assert (located.dtype, located.shape) == (placed.dtype, placed.shape)
        assert (located.nbytes, located.devices) == (placed.nbytes, placed.devices)
        assert located.sharding is None
        assert not located.deleted

    def test_arrays_of_their_own_memory_are_told_apart(
        self, framework: Framework, array: object
    ) -> None:
        other = array + 1  # type: ignore[operator]
        found = locate({"a": array, "b": other, "again": array})
        assert [each.of for each in found.arrays] == ["", "", "a"]
        assert sum(nbytes for _, nbytes in found.by_device().values()) == 2 * 24

    def test_its_devices_have_names_of_their_own(self, framework: Framework, array: object) -> None:
        home = framework.capability(DeviceInventory).devices()
        assert (home.framework, home.version) == (framework.name, framework.version())
        assert home.started
        names = [device.name for device in home.devices]
        assert len(set(names)) == len(names)
        if framework.capability(DeviceInventory).has_devices:
            assert set(self.devices) <= set(names)
            assert home.default in names
        else:
            assert names == []

    def test_what_has_started_is_started(self, framework: Framework, array: object) -> None:
        assert framework.capability(DeviceInventory).start()

    def test_what_is_held_are_its_arrays(self, framework: Framework, array: object) -> None:
        assert all(
            framework.owns(type(each))
            for each in framework.capability(ArrayInspector).live_arrays()
        )

    def test_only_containers_of_its_own_have_named_parts(
        self, framework: Framework, array: object
    ) -> None:
        class Box:
            pass

        for value in (array, [array], {"a": array}, Box(), 1, None, "a", len):
            assert framework.named_parts(value) is None

    #: Dtypes in which its probe multiplies here.
    multiplied: tuple[str, ...] = ()

    def test_its_probe_multiplies_matrices(self, framework: Framework, array: object) -> None:
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

    def test_its_probe_goes_through_all_of_an_array(
        self, framework: Framework, array: object
    ) -> None:
        probe = framework.capability(DeviceInventory).probe(self.devices[0])
        if probe is None:
            return
        (in_place, moved), (read, length) = probe.streams(4096)
        assert moved in (2 * 4096, 3 * 4096)
        assert length == 4096
        total = float(read())  # type: ignore[arg-type]
        in_place()
        assert abs(total) == abs(float(read())) == 1024  # type: ignore[arg-type]

    def test_its_probe_copies_as_much_as_it_is_told(
        self, framework: Framework, array: object
    ) -> None:
        probe = framework.capability(DeviceInventory).probe(self.devices[0])
        if probe is None or framework.name == "numpy":
            return
        for copied in (probe.upload(100)(), probe.download(100)()):
            found = next(iter(find_arrays(copied, loaded()[0])))
            assert found.framework.placement(found.array).nbytes == 100

    def test_its_probe_has_a_smallest_operation(self, framework: Framework, array: object) -> None:
        probe = framework.capability(DeviceInventory).probe(self.devices[0])
        if probe is not None:
            assert abs(float(probe.smallest_operation()())) == 1  # type: ignore[arg-type]
