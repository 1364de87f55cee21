"""What JAX makes the key of a program in its persistent cache of, in words.

JAX hashes named parts one after the other (private functions of ``jax._src.cache_key``), and keeps
the hash. Here they are hashed once more, by the same functions: only where the whole is the key
itself are the parts what it was made of.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jax._src import cache_key, compilation_cache, config
from jax._src.lib import xla_client

from ipyjaxbench.frameworks import DIGEST, PROGRAM, Parts

_MAX_ELEMENTS = 16  # of an array in a program's text; others are left out
#: Compile options other than flags; the rest may hold addresses, or depend on other objects.
_OPTIONS = ("num_replicas", "num_partitions", "parameter_is_tupled_arguments", "profile_version",
            "compile_portable_executable")  # fmt: skip
_BUILD_OPTIONS = (
    "optimization_level", "memory_fitting_level", "use_spmd_partitioning",
    "use_auto_spmd_partitioning", "use_shardy_partitioner", "auto_spmd_partitioning_mesh_shape",
    "allow_spmd_sharding_propagation_to_output", "allow_spmd_sharding_propagation_to_parameters",
)  # fmt: skip
_TENSOR = re.compile(r"tensor<(?P<shape>(?:\d+x)*)(?P<dtype>\w+)>")
_Fields = dict[str, str]
#: What adds a part to a hash, and what says it in words.
_Part = tuple[Callable[[Any], object], Callable[[bytes], _Fields]]


class _Bytes:
    """Stands for a hash, and keeps what it is given."""

    def __init__(self) -> None:
        self.value = b""

    def update(self, value: bytes) -> None:
        self.value += value


def read_key(names: Mapping[str, Any]) -> Parts | None:
    """Return the parts of a key, each with its fields; None where they do not make up the key.

    Args:
        names: local variables of the function of JAX that looks a program up.
    """
    parts, whole = {}, hashlib.sha256()
    try:
        for part, (add, describe) in _parts(names).items():
            collected = _Bytes()
            add(collected)
            whole.update(collected.value)
            digest = {DIGEST: hashlib.sha256(collected.value).hexdigest()[:16]}
            parts[part] = digest | describe(collected.value)
    except (AttributeError, KeyError, TypeError):  # private names that moved
        return None
    return parts if str(names["cache_key"]).endswith(f"-{whole.hexdigest()}") else None


def _parts(names: Mapping[str, Any]) -> dict[str, _Part]:
    """Return the parts in the order of JAX."""
    key: Any = cache_key
    module, backend, devices = names["computation"], names["backend"], names["devices"]
    options, prefixes = names["compile_options"], key.get_flag_prefixes()
    callbacks, is_gpu = _ignored_callbacks(), backend.platform == "gpu"
    return {
        PROGRAM: (
            lambda h: key._hash_computation(h, module, callbacks),
            lambda _: _describe_program(module),
        ),
        "jaxlib version": _text(key.jaxlib_version_str),
        "backend version": (
            lambda h: key._hash_platform(h, backend),
            lambda _: {"platform": backend.platform, "version": backend.platform_version},
        ),
        "XLA flags": (lambda h: key._hash_xla_flags(h, prefixes), lambda _: _flags(prefixes)),
        "compile options": (
            lambda h: key._hash_serialized_compile_options(
                h, options, strip_device_assignment=is_gpu
            ),
            _describe_options,
        ),
        "devices": (
            lambda h: key._hash_accelerator_config(h, devices),
            lambda _: {
                "kinds": ", ".join(sorted({device.device_kind for device in devices.flat})),
                "count": str(devices.size),
            },
        ),
        "compression": _text("zstandard" if _has_zstandard() else "zlib"),
        "custom hook": _text(key.custom_hook()),
    }


def _text(value: str) -> _Part:
    return lambda h: h.update(value.encode("utf-8").strip()), lambda _: {"": value}


def _has_zstandard() -> bool:
    return getattr(compilation_cache, "zstandard", None) is not None


def _ignored_callbacks() -> Any:
    setting: Any = getattr(config, "remove_custom_partitioning_ptr_from_cache_key", None)
    is_on = setting is not None and bool(setting.value)
    kinds: Any = getattr(cache_key, "IgnoreCallbacks", None)
    if kinds is None:  # from JAX 0.12 on
        return is_on
    return kinds.CUSTOM_PARTITIONING if is_on else kinds.NO


def _describe_program(module: Any) -> _Fields:
    """Return the types of a program's arguments, and a hash of it without large arrays."""
    types = (str(op.type) for op in module.body.operations if _is_main(op))
    code = module.operation.get_asm(large_elements_limit=_MAX_ELEMENTS)
    return {
        "types": _TENSOR.sub(_spell_type, next(types, "").partition(" -> ")[0][1:-1]),
        "code": hashlib.sha256(code.encode()).hexdigest()[:16],
    }


def _spell_type(tensor: re.Match[str]) -> str:
    """Return a type of MLIR as JAX writes it, such as "f32[8,8]" for "tensor<8x8xf32>"."""
    return f"{tensor['dtype']}[{tensor['shape'].strip('x').replace('x', ',')}]"


def _is_main(operation: Any) -> bool:
    attributes = operation.attributes  # it has no `get` in all versions
    name = attributes["sym_name"] if "sym_name" in attributes else ""  # noqa: SIM401
    return str(name) == '"main"'


def _flags(prefixes: Sequence[str]) -> _Fields:
    """Return the flags that are hashed: of the environment, and of the command line."""
    environment = [os.getenv(name) or "" for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")]
    typed = [arg for arg in sys.argv if arg.startswith(("--xla", *prefixes))]
    flags = [flag.partition("=") for flag in [*" ".join(environment).split(), *typed]]
    return {name: value for name, _, value in flags if name not in _excluded()}


def _describe_options(serialized: bytes) -> _Fields:
    """Return options other than those with which XLA began; what does not count is cleared."""
    options: Any = xla_client.CompileOptions.ParseFromString(serialized)
    usual: Any = xla_client.CompileOptions()  # its parts live as long as it does
    build, fields = options.executable_build_options, {}
    fields.update({name: str(getattr(options, name, "")) for name in _OPTIONS})
    fields.update({name: str(getattr(build, name, "")) for name in _BUILD_OPTIONS})
    began = {*str(usual.executable_build_options.debug_options).splitlines()}
    for line in str(build.debug_options).splitlines():
        name, colon, value = line.partition(": ")
        if colon and line not in began and f"--{name}" not in _excluded():
            fields[name] = value.strip('"')
    return fields | {str(name): str(value) for name, value in options.env_option_overrides}


def _excluded() -> Sequence[str]:
    flags: Sequence[str] = cache_key.xla_flags_to_exclude_from_cache_key
    return flags
