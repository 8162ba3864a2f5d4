"""What was put into an object, a list or a dict, without the thing that holds it.

After `a.b = [c]`, `a.b[0]` is `c`; `a.b = f()` with all its reads is `b = f()`. Told from the text alone: whether the
thing was another one by then is for the oracle to say.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

import libcst as cst

from tputriage.minimize.reducing.edits import Program, Site, root_of
from tputriage.minimize.reducing.passes import Pass
from tputriage.minimize.trees import free_name

NOT_OWN = frozenset({*dir(builtins), *keyword.kwlist})
Held = cst.Attribute | cst.Subscript


def held(program: Program) -> Sequence[Sequence[Site]]:
    """Reads of what stands in a display, or is what an attribute was given."""
    stored = _stored(program)
    known = dict(_entries(program, stored)) | {
        text: node.value
        for text, node in stored.items()
        if isinstance(node.targets[0].target, cst.Attribute) and root_of(node.value)
    }
    sites = [
        Site.putting(node, known[text])
        for node in _reads(program)
        if (text := _text(program, node)) in known and program.starts(node) > program.starts(known[text])
    ]
    return [sites, [site for node in program.of(cst.Subscript) for site in _picked(program, node)]]


def _picked(program: Program, node: cst.Subscript) -> Iterator[Site]:
    """`[a, b][0]` is `a`, whatever b is."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=index))]:
            key = _text(program, index)
            yield from (Site.putting(node, one) for place, one in _elements(program, node.value) if place == key)


def _stored(program: Program) -> dict[str, cst.Assign]:
    """What is assigned to once, by its text: `a`, `a.b`, `a["b"]`."""
    found: dict[str, list[cst.Assign]] = {}
    for node in program.of(cst.Assign):
        for target in node.targets:
            if isinstance(target.target, (cst.Name, cst.Attribute, cst.Subscript)):
                found.setdefault(_text(program, target.target), []).append(node)
    return {text: nodes[0] for text, nodes in found.items() if len(nodes) == 1 and len(nodes[0].targets) == 1}


def _entries(program: Program, stored: Mapping[str, cst.Assign]) -> Iterator[tuple[str, cst.BaseExpression]]:
    """(how it is asked for, the element)."""
    for text, node in stored.items():
        found = ((place, one) for place, one in _elements(program, node.value) if root_of(one))
        named = ((f"{text}[{place}]", one) for place, one in found)
        yield from ((name, one) for name, one in named if name not in stored)


def _elements(program: Program, node: cst.BaseExpression) -> Iterator[tuple[str, cst.BaseExpression]]:
    """(its place or key, the element); in a list, as far as no star hides which place is whose."""
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            plain = takewhile(lambda one: isinstance(one, cst.Element), elements)
            yield from ((str(place), one.value) for place, one in enumerate(plain))
        case cst.Dict(elements=entries):
            yield from ((_text(program, one.key), one.value) for one in entries if isinstance(one, cst.DictElement))


def _reads(program: Program) -> list[Held]:
    return [node for node in _all(program) if not _is_stored(program, node)]


def _all(program: Program) -> list[Held]:
    return [*program.of(cst.Attribute), *program.of(cst.Subscript)]


def _is_stored(program: Program, node: cst.CSTNode) -> bool:
    """Whether it is set there, alone or as a part of what is: `a.b, c = d` and `for a.b in c`."""
    for around in program.above(node):
        if isinstance(around, (cst.Tuple, cst.List, cst.Element, cst.StarredElement)):
            node = around
            continue
        return isinstance(around, (cst.AssignTarget, cst.Del)) or any(
            getattr(around, field, None) is node for field in ("target", "asname")
        )
    return False


def named(program: Program) -> Sequence[Sequence[Site]]:
    """`a.b` and `a["b"]` as names of their own: all that one holder has, which then goes, or an attribute alone.

    An entry alone would be one name more to read.
    """
    stored = _stored(program)
    settable = _settable(program, stored)
    sites = dict(zip(settable, _renamings(program, settable), strict=True))
    alone = [site for text, site in sites.items() if isinstance(settable[text][0], cst.Attribute)]
    return [list(_holders_out(program, stored, sites)), alone]


def _renamings(program: Program, settable: Mapping[str, Sequence[Held]]) -> Iterator[Site]:
    """One each, to names that nothing has."""
    taken = {node.value for node in program.of(cst.Name) if not _is_field(program, node)} | NOT_OWN
    for places in settable.values():
        wish = _wish(places[0])
        name = cst.Name(free_name(wish, f"{root_of(places[0].value)}_{wish}", taken=taken))
        taken.add(name.value)
        yield Site(tuple(change for node in places for change in Site.putting(node, name).changes))


def _holders_out(program: Program, stored: Mapping[str, cst.Assign], sites: Mapping[str, Site]) -> Iterator[Site]:
    for holder in dict.fromkeys(map(_holder, sites)):
        of_it = [site for text, site in sites.items() if _holder(text) == holder]
        site = _without(program, holder, stored[holder], of_it) if holder in stored else None
        if site is not None:
            yield site


def _settable(program: Program, stored: Mapping[str, cst.Assign]) -> dict[str, list[Held]]:
    """Where each is set once, with a name that says what it is, and read; but not in what the script imports."""
    places: dict[str, list[Held]] = {}
    for node in _all(program):
        places.setdefault(_text(program, node), []).append(node)
    return {
        text: nodes
        for text, nodes in places.items()
        if text in stored
        and len(nodes) > 1
        and _wish(nodes[0])
        and root_of(nodes[0].value) not in program.imported
        and _is_seen(program, stored[text], nodes)
    }


def _is_seen(program: Program, assign: cst.Assign, nodes: Sequence[Held]) -> bool:
    """Whether a plain name that is bound there would be seen by all: `self.a` of one method is read in another."""
    scope = _function(program, assign)
    inner = [node for node in nodes if _function(program, node) is not scope]
    return not inner or (scope is None and not any(_is_stored(program, node) for node in inner))


def _function(program: Program, node: cst.CSTNode) -> cst.CSTNode | None:
    return next((one for one in program.above(node) if isinstance(one, cst.FunctionDef)), None)


def _holder(text: str) -> str:
    return text.rpartition("[")[0] if text.endswith("]") else text.rpartition(".")[0]


def _without(program: Program, holder: str, made: cst.Assign, sites: Sequence[Site]) -> Site | None:
    """With the line that makes the holder, where it is a name and nothing else is done with it."""
    changes = [change for site in sites for change in site.changes]
    count = sum(node.value == holder and not _is_field(program, node) for node in program.of(cst.Name))
    return Site((*changes, *Site.removing(made).changes)) if count == len(changes) + 1 else None


def _is_field(program: Program, node: cst.Name) -> bool:
    """Whether it names nothing of the scope: `b` in `a.b`, and in `f(b=1)`."""
    match program.parent(node):
        case cst.Attribute(attr=name) | cst.Arg(keyword=name):
            return name is node
    return False


def _wish(target: cst.CSTNode) -> str:
    match target:
        case cst.Attribute(value=value, attr=cst.Name(value=name)) if root_of(value):
            return name
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            said = key.evaluated_value
            return said if root_of(value) and isinstance(said, str) and said.isidentifier() else ""
    return ""


def _text(program: Program, node: cst.CSTNode) -> str:
    return program.module.code_for_node(node)


PASSES = [
    Pass("what is held, without its holder", 47, held),
    Pass("attribute or entry to a name", 49, named),
]
