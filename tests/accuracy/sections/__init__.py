"""The parts of the benchmark, in the order in which they run."""

from tests.accuracy.section import Section
from tests.accuracy.sections.background import IN_BACKGROUND, ON_PLATFORM
from tests.accuracy.sections.benchmarks import BENCHMARKS
from tests.accuracy.sections.claims import CLAIMS
from tests.accuracy.sections.coverage import COVERAGE
from tests.accuracy.sections.decisions import DECISIONS
from tests.accuracy.sections.disk_misses import DISK_MISSES
from tests.accuracy.sections.engines import ENGINES
from tests.accuracy.sections.equal import EQUAL
from tests.accuracy.sections.graphs import GRAPHS
from tests.accuracy.sections.held import HELD
from tests.accuracy.sections.hidden import HIDDEN_WORK
from tests.accuracy.sections.history import HISTORY
from tests.accuracy.sections.left import LEFT
from tests.accuracy.sections.live import LIVE
from tests.accuracy.sections.loading import LOADING
from tests.accuracy.sections.loops import LOOPS
from tests.accuracy.sections.memory import MEMORY
from tests.accuracy.sections.network import NETWORK
from tests.accuracy.sections.noisy import NOISY
from tests.accuracy.sections.ordinary import ORDINARY
from tests.accuracy.sections.overhead import OVERHEAD
from tests.accuracy.sections.passes import PASSES
from tests.accuracy.sections.peaks import PEAKS
from tests.accuracy.sections.peers import PEERS
from tests.accuracy.sections.places import PLACES
from tests.accuracy.sections.precision import PRECISION
from tests.accuracy.sections.programs import PROGRAMS
from tests.accuracy.sections.ranks import RANKS
from tests.accuracy.sections.speed import SPEED
from tests.accuracy.sections.stale import STALE
from tests.accuracy.sections.trace_files import TRACE_FILES
from tests.accuracy.sections.truth import TRUTH
from tests.accuracy.sections.turns import TURNS
from tests.accuracy.sections.verdicts import VERDICTS
from tests.accuracy.sections.watched import WATCHED

SECTIONS: dict[str, Section] = {
    section.name: section
    for section in (
        TRUTH,
        PEERS,
        SPEED,
        PRECISION,
        COVERAGE,
        HIDDEN_WORK,
        IN_BACKGROUND,
        ON_PLATFORM,
        DECISIONS,
        NOISY,
        VERDICTS,
        EQUAL,
        TURNS,
        ORDINARY,
        PEAKS,
        MEMORY,
        NETWORK,
        RANKS,
        ENGINES,
        LOOPS,
        CLAIMS,
        OVERHEAD,
        TRACE_FILES,
        PROGRAMS,
        GRAPHS,
        WATCHED,
        STALE,
        LEFT,
        PLACES,
        LOADING,
        HISTORY,
        BENCHMARKS,
        LIVE,
        PASSES,
        DISK_MISSES,
        HELD,
    )
}
