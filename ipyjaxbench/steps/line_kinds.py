"""Which statements of a loop give work to a framework, and whether they do it themselves."""

import ast
import builtins
import sys
from collections import ChainMap
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from ipyjaxbench.frameworks import Framework, find_arrays, find_compiler, find_reach
from ipyjaxbench.steps.insert_marks import Site
from ipyjaxbench.steps.protocol import DeviceWaits
from ipyjaxbench.usercode import look_up, module_of, package_of, root_name

#: Calls that read an array, or wait for it, and give a device nothing to do.
_READS = {
    "block_until_ready", "device_get", "copy_to_host_async", "item", "tolist", "numpy", "asarray",
    "array", "float", "int", "bool", "print", "append", "detach", "cpu", "synchronize", "format",
    "list_physical_devices", "set_description", "set_postfix", "write", "result", "add_scalar",
}  # fmt: skip
#: Functions whose arguments are calls of their own.
_HARMLESS = {"len", "range", "zip", "enumerate", "isinstance", "str", "repr", "tqdm", "next"}
_PLAIN = ("builtins", "numpy")
_MOST_ARRAYS = 64  # that are asked whether they are computed


def computing(frameworks: Sequence[Framework]) -> list[Framework]:
    """Return those that may compute on a device: plain Python and NumPy are the host's."""
    return [each for each in frameworks if each.module not in _PLAIN]


class LineKinds:
    """What the statements of a loop do, as the names show that they use.

    Args:
        frameworks: those that are loaded.
        sites: the statements.

    Attributes:
        dispatching: the sites that give work to a framework, by its name.
        in_call: of sites that do so, how often their work was done when they were, of how many.
    """

    def __init__(self, frameworks: Sequence[Framework], sites: Sequence[Site]) -> None:
        self._frameworks = frameworks
        self._sites = sites
        self.dispatching: dict[int, str] = {}
        self.in_call: dict[int, list[bool]] = {}
        self.advice = ""

    def look(self, site: int, frame: FrameType) -> None:
        """Look at a statement that is just over; with a number below zero at all of them."""
        is_function = frame.f_locals is not frame.f_globals
        if site >= 0 and site not in self.dispatching:
            return
        names = frame.f_locals
        values = ChainMap(names, frame.f_globals, vars(builtins))
        try:
            if site < 0:
                self._look_at_all(values)
            else:
                self._look_at_result(site, values)
        finally:
            if is_function and sys.version_info < (3, 13):
                names.clear()  # Python keeps this copy, and with it arrays, as long as the frame

    def _look_at_all(self, values: Mapping[str, object]) -> None:
        for number, site in enumerate(self._sites[:-1]):
            if found := self.framework_of(site.parts, values):
                self.dispatching[number] = found
        header = self._sites[-1:]
        for node in (inner for site in header for inner in ast.walk(site.parts[0])):
            value = values.get(node.id) if isinstance(node, ast.Name) else None
            for each in self._frameworks if value is not None else ():
                self.advice = self.advice or each.capability(DeviceWaits).loader_advice(value)

    def framework_of(self, parts: Sequence[ast.AST], values: Mapping[str, object]) -> str:
        """Return the framework that some code gives work to; "" where it gives none."""
        for node in (inner for part in parts for inner in ast.walk(part)):
            found = ""
            if isinstance(node, ast.Call):
                found = self.framework_of_call(node, values)
            elif isinstance(node, ast.BinOp):
                found = self._owner(node.left, values) or self._owner(node.right, values)
            elif isinstance(node, ast.AugAssign):
                found = self._owner(node.target, values) or self._owner(node.value, values)
            if found:
                return found
        return ""

    def framework_of_call(self, call: ast.Call, values: Mapping[str, object]) -> str:
        """Return the framework that a call is of, or leads to; "" for others, and for reads."""
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else root_name(function)
        if name in _READS or name in _HARMLESS:
            return ""
        if isinstance(function, ast.Attribute) and (owner := self._owner(function.value, values)):
            return owner
        callee = look_up(function, values)
        if callee is None:
            return self._of_unknown(function, values)
        package = package_of(callee)
        if package in sys.stdlib_module_names or package in _PLAIN:
            return ""
        return self._reached(callee)

    def _of_unknown(self, function: ast.expr, values: Mapping[str, object]) -> str:
        """Return the framework of a method whose object's class alone is known."""
        owner = values.get(root_name(function))
        return "" if owner is None or not isinstance(function, ast.Attribute) else self._has(owner)

    def _reached(self, callee: object) -> str:
        """Return the framework of a callable, or of what it calls."""
        for each in find_reach([callee], self._frameworks).functions:
            compiler = find_compiler(each, self._frameworks)
            if compiler is not None:
                return str(compiler.framework.name)
            for framework in self._frameworks:
                if package_of(each) == framework.module:
                    return framework.name
        return self._has(callee)

    def _owner(self, node: ast.expr, values: Mapping[str, object]) -> str:
        """Return whose array, module or optimizer a name is."""
        value = look_up(node, values) if not isinstance(node, ast.Call) else None
        return "" if value is None else self._has(value)

    def _has(self, value: Any) -> str:
        kind = type(value)
        for framework in self._frameworks:
            if framework.owns(kind) or framework.parts(value):
                return framework.name
            if module_of(kind).partition(".")[0] == framework.module:
                return framework.name
        return ""

    def _look_at_result(self, site: int, values: Mapping[str, object]) -> None:
        """Ask whether what a statement made was computed when it was over."""
        nodes = [node for part in self._sites[site].parts for node in ast.walk(part)]
        names = [node for node in nodes if isinstance(node, ast.Name)]
        made = [values.get(node.id) for node in names if isinstance(node.ctx, ast.Store)]
        read = [values.get(node.id) for node in names if isinstance(node.ctx, ast.Load)]
        for group in (made, read):
            found = find_arrays(group, self._frameworks)[:_MOST_ARRAYS]
            done = [
                each.framework.capability(DeviceWaits).computes_in_call(each.array)
                for each in found
                if each.framework.alive(each.array)
            ]
            if done:
                self.in_call.setdefault(site, []).append(all(done))
                return
