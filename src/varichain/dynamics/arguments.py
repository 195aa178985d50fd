"""Checks that every friendly function makes before it computes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, SingularMassError, UnknownNameError
from varichain.kernels.faults import LARGEST, QUATERNION_TOLERANCE, first_fault
from varichain.kernels.pivots import massless_freedom
from varichain.kernels.stepping import STEP_METHODS
from varichain.layout.layout import Layout
from varichain.layout.state import State, layout_for
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_scalar, flag, shown

Table = NDArray[np.int64]


def sound_layout(mechanism: Mechanism, state: State) -> Layout:
    """Layout of the mechanism, once the state is sound and belongs to it."""
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"expected a Mechanism, not {type(mechanism).__name__}")
    if not isinstance(state, State):
        raise InputError(f"expected a State (from m.state()), not {type(state).__name__}")
    layout = layout_for(mechanism, state)
    q, v = state.q, state.v
    fault = first_fault(layout.tree.workspaces.of_thread.table, q, v)
    if fault:
        _raise_fault(layout, state, fault)
    return layout


def checked_step_method(method: Any) -> str:
    """A method of `Prepared.advance` and `Batch.advance`.

    Raises:
        InputError: It is none.
    """
    if not isinstance(method, str) or method not in STEP_METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, STEP_METHODS))}, not {shown(method)}")
    return method


def checked_closing(closed: Any, method: str, dt: float) -> int:
    """Whether steps of a method close loops, for kernels.

    Raises:
        InputError: They are to leave loops open, and the next step would not undo that.
    """
    if not flag(closed, "closed") and method != "euler":
        raise InputError(f"closed=False needs steps that undo what the last one opened: 'euler', not {method!r}")
    if not closed and not dt > 0.0:
        raise InputError(
            f"closed=False needs steps forward in time, not dt = {shown(dt)}: the next one closes the loops"
        )
    return int(closed)


def opened(mechanism: Mechanism, state: State) -> tuple[Layout, Table]:
    """Check mechanism and state; returns the layout and the address table."""
    layout = sound_layout(mechanism, state)
    return layout, layout.workspaces.of_thread.table


def opened_with_mass(mechanism: Mechanism, state: State) -> tuple[Layout, Table]:
    """Check mechanism, state and that everything that can move has mass; returns layout and table."""
    layout, table = opened(mechanism, state)
    require_determined(layout, state)
    return layout, table


def opened_with_center(mechanism: Mechanism, state: State) -> tuple[Layout, Table]:
    """Check mechanism, state and that there is a centre of mass; returns layout and table."""
    layout, table = opened_with_mass(mechanism, state)
    if layout.moving_mass == 0.0:
        raise SingularMassError(f"nothing that moves in {mechanism.name!r} has mass: there is no centre of mass")
    return layout, table


def require_mass(layout: Layout) -> None:
    """Raise SingularMassError if something can move although it and all that it carries weigh nothing."""
    name = layout.massless_link
    if name is not None:
        raise SingularMassError(
            f"link {name!r} can move, but it and all links it carries have neither mass nor joint armature; "
            "give it an inertia, fix it, or give its joint an armature",
            name,
        )


def require_determined(layout: Layout, state: State) -> None:
    """Raise SingularMassError if something weighs nothing and loops do not say how it moves in this state."""
    if layout.massless_link is None:
        return
    if layout.is_tree:
        require_mass(layout)
    from varichain.dynamics.massless import undetermined_freedom

    freedom = undetermined_freedom(layout, state.q)
    if freedom is not None:
        name = layout.freedom_name(freedom)
        raise SingularMassError(
            f"freedom {name!r} moves links that have neither mass nor joint armature, and the loops do not determine "
            "its motion; give the links an inertia, fix them, or give the joint an armature",
            name.split(".")[0],
        )


def require_inertia(layout: Layout, table: Table) -> None:
    """Raise if the articulated sweep met a freedom that moves nothing."""
    stuck = massless_freedom(table)
    if stuck >= 0:
        raise massless_error(layout, stuck)


def massless_error(layout: Layout, freedom: int) -> SingularMassError:
    """The error that names a freedom without inertia."""
    name = layout.freedom_name(freedom)
    return SingularMassError(
        f"freedom {name!r} moves no inertia in this configuration; give the links it carries a rotational inertia "
        "(a point or a thin rod has none about its own axis) or the joint an armature",
        name.split(".")[0],
    )


def joint_vector(layout: Layout, value: Any, what: str) -> Array:
    """Float array (n_v,) from an array, a mapping from joint names to values (others zero), or None (all zero)."""
    if (
        type(value) is np.ndarray
        and value.dtype == np.float64
        and value.shape == (layout.n_v,)
        and math.isfinite(value.dot(value))  # finds every NaN and infinity; huge numbers take the slow way below
    ):
        # kernels take contiguous writable arrays and none of another kind
        return value if value.flags.c_contiguous and value.flags.writeable else value.copy()
    if value is None:
        return np.zeros(layout.n_v)
    if not isinstance(value, Mapping):
        return finite_array(value, (layout.n_v,), what).copy()
    vector = np.zeros(layout.n_v)
    for name, numbers in value.items():
        slot = layout.slot(name)
        entry = vector[slot.v]
        what_of = f"{what} of {slot.kind} joint {name!r}"
        if np.ndim(numbers) == 0 and len(entry) == 1:
            entry[0] = finite_scalar(numbers, what_of)
        else:
            entry[:] = finite_array(numbers, entry.shape, what_of)
    return vector


def link_row(layout: Layout, link: Any) -> int:
    """Row of a link in the arrays of a layout."""
    name = link.name if isinstance(link, Link) else link
    row = layout.link_index.get(name) if isinstance(name, str) else None
    if row is None:
        raise UnknownNameError("link", name, layout.link_index)
    return row


def _raise_fault(layout: Layout, state: State, fault: int) -> NoReturn:
    """Say which number of the state is wrong, by joint."""
    large = f"smaller than {LARGEST:g}: squares have to be numbers"
    if fault > layout.n_q:
        name, value = layout.freedom_name(fault - layout.n_q - 1), state.v[fault - layout.n_q - 1]
        raise InputError(f"velocity {name!r} must be {large if math.isfinite(value) else 'finite'}, not {value}")
    index = abs(fault) - 1
    slot = next(slot for slot in layout.slots if slot.q.start <= index < slot.q.stop)
    if fault > 0:
        must = large if np.isfinite(state.q[slot.q]).all() else "finite"
        raise InputError(f"coordinates of joint {slot.name!r} must be {must}, not {state.q[slot.q].tolist()}")
    quaternion = state.q[index : index + 4]
    raise InputError(
        f"quaternion of joint {slot.name!r} has length {np.linalg.norm(quaternion):.12g}, must be 1 to "
        f"{QUATERNION_TOLERANCE:g}: set state[{slot.name!r}].orientation, or assign state.q, which normalises"
    )
