"""The machine below: time, CPUs, GPUs, Git, and the directory for data of this package.

`clock` is the one place where time is read, `conditions` says what the machine did while something
was measured, and `causes` puts that into words. `procfs` and `nvml` read what Linux and NVIDIA's
driver tell, `git` the revision of the code. Looking changes nothing and imports nothing heavy. All
rooms may import from here but `reports`; this room knows none of them.
"""
