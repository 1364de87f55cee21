"""Devices and what lies on them: where arrays are, what is copied, and how fast a device can be.

`locate` says where values live, `watch_transfers` runs code and says what it copied,
`measure_ceilings` measures what a device can do, `set_memory` sets what frameworks may take of it,
and `about` says what a report of a bug needs. `protocol` is what an adapter offers for that. The
timer asks for ceilings; else the magics and the Python API call this room.
"""
