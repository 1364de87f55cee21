"""Engines of several jobs are told apart; those of each are measured together."""

import pytest
from IPython.core.error import UsageError

from tests.cluster.engines import define_step, engines, need, start_job
from tests.shell import Shell

_CHOOSE = " Choose all ranks of one job"


def test_only_all_ranks_of_one_job_are_measured_together(shell: Shell) -> None:
    need("jax")
    need("torch")
    with engines("alone", 6) as client:
        shell.names["rc"] = client
        for pair in ([0, 1], [2, 3]):
            start_job(client[pair], "torch")
            define_step(client[pair], "torch")

        def refused(chosen: str, told: str) -> None:
            for typed in (f"%fwtime --engines {chosen} step(x)",
                          f"%fwdevices --peak --engines {chosen}"):  # fmt: skip
                with pytest.raises(UsageError, match=f"^{told}{_CHOOSE}"):
                    shell.run(typed)

        torch = "is one of many in torch"
        refused("0,4", rf"engine 0 {torch}, engine 4 is alone\.")
        start_job(client[[4, 5]], "jax")
        define_step(client[[4, 5]], "jax")
        refused("all", rf"engine 0 {torch}, engine 4 is one of many in jax\.")
        refused("0:4", r"two engines are rank 0 of different jobs\.")
        refused("1,2", r"engine 1 is rank 1 of another job than engine 2\.")
        for chosen, job in (("0,1", "torch"), ("2:4", "torch"), ("5,4", "jax")):
            shell.run(f"%fwtime --engines {chosen} --quick -v found step(x)")
            assert (shell.names["found"].job, len(shell.names["found"].ranks)) == (job, 2)


def test_ranks_may_have_other_numbers_of_devices(shell: Shell) -> None:
    need("jax")
    with engines("alone") as client:
        shell.names["rc"] = client
        client[1].execute("import jax; jax.config.update('jax_num_cpu_devices', 3)", block=True)
        start_job(client[:], "jax")
        client[:].execute("""
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec
rows = NamedSharding(Mesh(numpy.array(jax.devices()), ("d",)), PartitionSpec("d"))
whole = numpy.ones((8, 8), numpy.float32)
x = jax.make_array_from_callback(whole.shape, rows, whole.__getitem__)
step = jax.jit(lambda x: (x @ x.T).sum())
""", block=True)  # fmt: skip
        shell.run("%fwtime --engines all --quick -v found step(x)")
        assert len(shell.names["found"].ranks) == 2
        assert "devices differ: 1 in rank 0, 3 in rank 1" in shell.shown[-1].data["text/plain"]
        shell.run("%fwdevices --engines all x")
        assert "rows sharded over 'd' (4)" in shell.shown[-1].data["text/plain"]
