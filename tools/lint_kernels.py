"""Check what kernels promise: the sections of their signatures, and what must have run before each function.

Signatures: every argument of a kernel stands in a section (`# layout`, `# in`, `# in and out`, `# out`, `# work`), has
a declared type, is left alone if it is an input and written if it is a result.

Contracts: a docstring may say `Needs: bodies placed.` and `Gives: rows placed.`, in words of FACTS. A function that
calls another one has called before, in the order of its text, functions that give all that the other one needs, or says
that it needs the same. Branches and loops are not followed: a clean text is no proof.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

KERNELS = Path(__file__).resolve().parent.parent / "src" / "varichain" / "kernels"
KINDS = ("kernel", "routine", "helper", "fragment")
# What functions leave behind in the arrays of a workspace, and what each implies.
FACTS: dict[str, tuple[str, ...]] = {
    "bodies placed": (),  # poses of bodies, motion vectors of freedoms
    "bodies moved": ("bodies placed",),  # their velocities, and accelerations while joint accelerations are zero
    "bias forces loaded": ("bodies placed",),  # forces while joint accelerations are zero, and rigid inertias
    "torques loaded": (),  # generalized forces of freedoms
    "inertias articulated": ("bodies placed",),  # and what they leave of forces and torques
    "composites gathered": ("bodies placed",),  # inertias of bodies together with all that they carry
    "loop points placed": ("bodies placed",),  # where loops act
    "loop axes placed": ("bodies placed",),  # axes of the joints that close loops
    "rows placed": ("loop points placed", "loop axes placed"),  # directions and wrenches
    "rows propagated": ("inertias articulated", "rows placed"),  # through the articulated tree
    "rows factored": ("rows propagated",),  # the factor of their Gram matrix
    "slips loaded": (),  # position errors of couplings
    "slip rates loaded": (),  # velocity errors of couplings
    "links gathered": (),  # centres and arms of links of particles
    "links oriented": ("links gathered",),  # their rotation matrices and angular velocities
    "freedoms measured": ("links gathered",),  # coordinates and rates of joints between them
}
_SECTION = re.compile(r"#\s*(layout|in and out|in|out|work)(?=$|[\s:(,])")
_SECTIONS = "# layout, # in, # in and out, # out, # work"
_CONTRACT = re.compile(r"^\s*(Needs|Gives): (.*)\.$")
_ALMOST = re.compile(r"^\s*(needs|gives|requires|provides)\s*:", re.IGNORECASE)
_BY_ADDRESS = "call"

Place = tuple[str, str]  # module, name


@dataclass(frozen=True)
class Fault:
    """Something that is not as promised, and where."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        """As compilers say it."""
        return f"{self.path}:{self.line}: {self.text}"


@dataclass
class Function:
    """A function of a kernel module, as its text has it."""

    path: Path
    node: ast.FunctionDef
    lines: list[str]
    kind: str  # one of KINDS, or "plain"
    n_types: int
    calls: list[tuple[ast.Call, Place]] = field(default_factory=list)

    @property
    def arguments(self) -> list[str]:
        """Names of the arguments."""
        return [argument.arg for argument in self.node.args.args]

    def fault(self, text: str, line: int | None = None) -> Fault:
        """A fault of this function."""
        return Fault(self.path, line or self.node.lineno, f"{self.node.name}: {text}")

    @cached_property
    def contract(self) -> dict[str, list[str]]:
        """What the docstring says after Needs and Gives."""
        found: dict[str, list[str]] = {"Needs": [], "Gives": []}
        for line in (ast.get_docstring(self.node) or "").splitlines():
            if match := _CONTRACT.match(line):
                found[match[1]] += match[2].split(", ")
        return found

    @cached_property
    def sections(self) -> dict[str, str]:
        """Section of every argument that has one."""
        found, section = {}, ""
        places = {argument.lineno: argument.arg for argument in self.node.args.args}
        for number in range(self.node.lineno, self.node.body[0].lineno):
            if match := _SECTION.match(self.lines[number - 1].strip()):
                section = match[1]
            if number in places and section:
                found[places[number]] = section
        return found


def read(folder: Path = KERNELS) -> dict[Place, Function]:
    """All functions of all modules; of two variants of one function the last, which is the compiled one."""
    functions: dict[Place, Function] = {}
    names: dict[str, dict[str, Place]] = {}
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        module, known = path.stem, names.setdefault(path.stem, {})
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                known |= {a.asname or a.name: ((node.module or "").split(".")[-1], a.name) for a in node.names}
            elif isinstance(node, ast.FunctionDef):
                kind, n_types = _kind(node)
                if kind != "intrinsic":  # its plain variant says what is written
                    functions[module, node.name] = Function(path, node, text.splitlines(), kind, n_types)
                    known[node.name] = (module, node.name)
    for (module, _), function in functions.items():
        calls = [
            node for node in ast.walk(function.node) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        calls.sort(key=lambda call: (call.end_lineno, call.end_col_offset))  # inner ones first
        for call in calls:
            if isinstance(call.func, ast.Name) and (place := names[module].get(call.func.id, ("", ""))) in functions:
                function.calls.append((call, place))
    return functions


def _kind(node: ast.FunctionDef) -> tuple[str, int]:
    """Name of the decorator, and the number of argument types that it declares."""
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        name = ast.unparse(call.func if call else decorator)
        if name in (*KINDS, "intrinsic"):
            return name, len(call.args) if call else 0
    return "plain", 0


def written(functions: dict[Place, Function], is_generous: bool) -> dict[Place, set[str]]:
    """Arguments that each function writes into, itself or through what it calls.

    Whoever is generous counts arguments too that are handed on in a tuple, opened as one, or given to a kernel that is
    called by address: they may be written.
    """
    found = {
        place: set(_stored(function, is_generous)) & set(function.arguments) for place, function in functions.items()
    }
    is_new = True
    while is_new:
        is_new = False
        for place, function in functions.items():
            roots = _roots(function, is_generous)
            for call, callee in function.calls:
                names = functions[callee].arguments
                for i, argument in enumerate(call.args):
                    if not (is_generous and callee[1] == _BY_ADDRESS) and not (
                        i < len(names) and names[i] in found[callee]
                    ):
                        continue
                    touched = {root for name in _arrays(argument, is_generous) for root in roots.get(name, [name])}
                    if new := touched & set(function.arguments) - found[place]:
                        found[place] |= new
                        is_new = True
    return found


def _arrays(node: ast.expr, is_generous: bool = False) -> list[str]:
    """Names whose memory a value is or is a part of: of an array, of a part of it, of a field, of arrays in a tuple."""
    if isinstance(node, ast.Tuple) and is_generous:
        return [name for element in node.elts for name in _arrays(element, True)]
    if isinstance(node, ast.Starred) and is_generous:
        return _arrays(node.value, True)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and is_generous:
        if node.func.id[0].isupper():  # a named tuple
            return [
                name for part in (*node.args, *(key.value for key in node.keywords)) for name in _arrays(part, True)
            ]
        if node.func.id.startswith("open_"):  # parts of an array by name
            return _arrays(node.args[0], True)
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        if isinstance(node, ast.Call):  # q.reshape(n, 3) is q
            is_view = isinstance(node.func, ast.Attribute) and node.func.attr == "reshape"
            node = node.func if is_view else ast.Constant(None)
        else:
            node = node.value
    return [node.id] if isinstance(node, ast.Name) else []


def _roots(function: Function, is_generous: bool = False) -> dict[str, list[str]]:
    """Names that local names are parts of: row = q[i]."""
    roots: dict[str, list[str]] = {}
    for node in ast.walk(function.node):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            pairs = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            values = value.elts if pairs and isinstance(value, ast.Tuple) else [value] * len(targets)
            for name, source in zip(targets, values, strict=False):
                if isinstance(name, ast.Name) and (arrays := _arrays(source, is_generous)):
                    roots[name.id] = [root for array in arrays for root in roots.get(array, [array])]
    return roots


def _stored(function: Function, is_generous: bool) -> Iterator[str]:
    """Names of arrays and records into which a function's own statements write."""
    roots = _roots(function, is_generous)
    for node in ast.walk(function.node):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            for name in _arrays(node):
                yield from roots.get(name, [name])


def signature_faults(function: Function, writes: set[str], may_write: set[str]) -> Iterator[Fault]:
    """What is wrong with a kernel's signature."""
    if function.n_types != len(function.arguments):
        yield function.fault(f"{function.n_types} types are declared for {len(function.arguments)} arguments")
    if homeless := [name for name in function.arguments if name not in function.sections]:
        yield function.fault(f"{', '.join(homeless)} in no section; valid: {_SECTIONS}")
    for number in range(function.node.lineno + 1, function.node.body[0].lineno):
        line, before = (function.lines[n - 1].strip() for n in (number, number - 1))
        if line.startswith("#") and not before.startswith("#") and not _SECTION.match(line):
            yield function.fault(f"{line!r} begins with no section; valid: {_SECTIONS}", number)
    for name, section in function.sections.items():
        if section == "in" and name in writes:
            yield function.fault(f"{name} is under # in, but written")
        elif section in ("out", "in and out") and name not in may_write:
            yield function.fault(f"{name} is under # {section}, but never written")
        elif (name == "out" or name.endswith("_out")) and section != "out":
            yield function.fault(f"{name} is under # {section} instead of # out")


def contract_faults(place: Place, functions: dict[Place, Function]) -> Iterator[Fault]:
    """What is wrong with a function's contract: its words, or something that it calls too early."""
    function = functions[place]
    for line in (ast.get_docstring(function.node) or "").splitlines():
        if _ALMOST.match(line) and not _CONTRACT.match(line):
            yield function.fault(
                f"{line.strip()!r} is no contract; valid: 'Needs: bodies placed, rows placed.' or 'Gives: ...'"
            )
    for fact in [fact for facts in function.contract.values() for fact in facts if fact not in FACTS]:
        yield function.fault(f"{fact!r} is no fact; valid: {', '.join(FACTS)}")
    known = implied(function.contract["Needs"])
    from_calls = {fact for _, callee in function.calls for fact in gives(callee, functions)}
    known |= implied(set(function.contract["Gives"]) - from_calls)  # made by its own statements
    for call, callee in function.calls:
        if missing := [fact for fact in functions[callee].contract["Needs"] if fact not in known]:
            yield function.fault(f"{callee[1]} needs {', '.join(missing)}, which nothing before it gives", call.lineno)
        known |= gives(callee, functions)


def gives(place: Place, functions: dict[Place, Function], above: frozenset[Place] = frozenset()) -> set[str]:
    """Facts that hold after a function: those of its contract, and those of all that it calls."""
    if place in above:
        return set()
    function = functions[place]
    inner = [gives(callee, functions, above | {place}) for _, callee in function.calls]
    return implied(function.contract["Gives"]).union(*inner)


def implied(facts: Iterable[str]) -> set[str]:
    """Facts, with all that they imply."""
    return {more for fact in facts for more in {fact} | implied(FACTS.get(fact, ()))}


def faults(folder: Path = KERNELS) -> list[Fault]:
    """All faults of a folder of kernel modules."""
    functions = read(folder)
    writes, may_write = written(functions, False), written(functions, True)
    found: list[Fault] = []
    for place, function in functions.items():
        if function.kind == "kernel":
            found += signature_faults(function, writes[place], may_write[place])
        found += contract_faults(place, functions)
    given = set().union(*(function.contract["Gives"] for function in functions.values()))
    for function in functions.values():
        found += [
            function.fault(f"nothing gives {x!r}") for x in function.contract["Needs"] if x in FACTS and x not in given
        ]
    return found


if __name__ == "__main__":
    for fault in (found := faults()):
        print(fault)
    print(f"{len(read())} functions, {len(found)} faults")
    sys.exit(1 if found else 0)
