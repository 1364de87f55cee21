"""What to write so that a function is not traced again."""

#: By kind of change.
ADVICE = {
    "function": "{name} = jax.jit(...) once, above: each new function object is traced anew",
    "captured": "give {path} to {name} as an argument: what it captures is part of its trace",
    "form": "give {path} always by position, or always by name",
    "type": "give {path} always as the same type, as in jnp.asarray(...)",
    "shape": "few shapes: pad {path}, as in jnp.pad, to a multiple of what you choose",
    "rank": "few ranks: give {path} always with as many axes",
    "dtype": "give {path} always with the same dtype: .astype(...) before the call",
    "weak type": "give {path} with a dtype, as in jnp.float32(...)",
    "static value": "one trace for each {path}: build it once, outside of the loop",
    "number": "one trace for each {path}: leave it out of static_argnames where it may be an array",
    "committed": "jax.device_put({path}, device) once, before the first call",
    "device": "jax.device_put({path}, device) once, before the first call",
    "sharding": "jax.device_put({path}, sharding) once, before the first call",
    "setting": "set {path} once, before the first call",
    "structure": "keep the same keys and lengths in each call",
}
