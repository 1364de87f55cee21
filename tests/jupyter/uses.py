"""A use of each magic for which NumPy is enough."""

#: {} stands where options stand. They need an array ``a``, and kept measurements one and two.
LINES = {
    "%fwtime": "%fwtime -n1 -r1 {} a.sum()",
    "%fwcompare": "%fwcompare {} one two",
    "%fwdevices": "%fwdevices {} a",
    "%trace_cached": "%trace_cached {} a.sum()",
}
CELLS = {
    "%%fwtime": "%%fwtime -n1 -r1 {}\na.sum()",
    "%%fwtime --loop": "%%fwtime --loop {}\nfor i in range(9): a.sum()\ndel i",
    "%%fwcompare": "%%fwcompare -b 0.05 {}\nsummed: a.sum()\nsorted: sorted(a)",
    "%%fwdevices": "%%fwdevices {}\na.sum()",
    "%%trace_cached": "%%trace_cached {}\na.sum()",
}
#: They need the function that FAILS makes.
FAILING = {
    "%fwtime": "%fwtime g(3)",
    "%%fwtime": "%%fwtime\n\ng(3)",
    "%%fwtime's set-up": "%%fwtime g(3)\n1 + 1",
    "%%fwcompare's set-up": "%%fwcompare\n\ng(3)\none: 1\ntwo: 2",
    "%%fwcompare's arm": "%%fwcompare -b 0.05\none: 1\ntwo: g(3)",
    "%%fwcompare's arms": "%%fwcompare -b 0.05\none: g(3)\ntwo: g(3)",
    "%fwdevices": "%fwdevices g(3)",
    "%%fwdevices": "%%fwdevices\ng(3)",
    "%trace_cached": "%trace_cached g(3)",
    "%%trace_cached": "%%trace_cached\ng(3)",
}
#: A function that fails, and has a name ``b`` for a debugger to find.
FAILS = "def g(x):\n    b = x + 1\n    return b / 0"
