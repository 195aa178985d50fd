"""All derivatives of one mechanism in one state beside re-closed differences: the sweep of both zoos."""

from types import SimpleNamespace

import numpy as np

import varichain as vc
from derivatives import differences
from derivatives.runs import reclosed
from derivatives.test_closed_chains import following
from varichain.derivatives.design_parameters import checked_parameters, redesigned
from varichain.derivatives.parameters import LABELS, parameters_of
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.dynamics.rank import kept_by_kinematics, kept_rows
from varichain.kernels.loop_wrenches import loop_wrenches
from varichain.layout.layout import layout_of

STEPS = (2e-3, 5e-4, 1e-4)
"""Of differences of order four: the best of them counts, and is told."""


def relative(found, expected):
    """Largest deviation, relative to the largest entry, or to one."""
    expected = np.asarray(expected)
    return float(np.abs(np.asarray(found) - expected).max(initial=0.0) / (1.0 + np.abs(expected).max(initial=0.0)))


class Check:
    """A mechanism in a state; every method returns {step: deviation} of one quantity."""

    def __init__(self, m, s, rng):
        """Choose torques and forces."""
        self.m, self.s, self.tau = m, s, rng.normal(size=m.n_v)
        links = [link.name for link in m.links]
        self.forces = [
            vc.Force(links[-1], *rng.normal(size=(3, 3))),
            vc.Force(links[len(links) // 2], *rng.normal(size=(3, 3)), "local"),
        ]
        self.rng = rng
        layout = layout_of(m)
        self.kept = kept_rows(layout, layout.workspaces.of_thread.table, s.q) if layout.n_rows else np.zeros(0, bool)

    def _state_derivatives(self, function, by_q, by_v, names, W):
        columns = differences.independent_columns(self.m, names)
        return {
            h: max(
                relative(by_q, differences.by_q(function, self.m, self.s, columns, W, h)),
                relative(by_v, differences.by_v(function, self.m, self.s, columns, h)),
            )
            for h in STEPS
        }

    def _motion(self, s, tau):
        """Accelerations, and multipliers of the rows that are kept in the first state, as loop forces."""
        layout = layout_of(self.m)
        table = layout.workspaces.of_thread.table
        a = vc.forward_dynamics(self.m, s, tau, self.forces).a
        x, wrenches = np.zeros(layout.n_rows), np.zeros((len(layout.connections), 6))
        if layout.n_rows:
            needed = vc.inverse_dynamics(self.m, s, a, self.forces, actuators=False).tau - tau
            K = constraint_matrix(layout, table, s.q)
            x[self.kept] = np.linalg.lstsq(K[self.kept].T, needed, rcond=None)[0]
            loop_wrenches(table, x, wrenches)
        forces = {loop.name: wrench for loop, wrench in zip(layout.loops, wrenches, strict=True)}
        return SimpleNamespace(a=a, loop_forces=forces, x=x)

    def forward(self):
        """Accelerations and multipliers by q and v; by tau elsewhere."""
        found = vc.forward_dynamics_derivatives(self.m, self.s, self.tau, self.forces)

        def both(s):
            motion = self._motion(s, self.tau)
            return np.concatenate([motion.a, motion.x])

        by_q, by_v = (
            np.vstack([getattr(part, by) for part in (found.a, found.multipliers)]) for by in ("by_q", "by_v")
        )
        W = found.W
        response = W @ np.linalg.inv(W.T @ vc.mass_matrix(self.m, self.s) @ W) @ W.T
        assert relative(found.by_tau, response) < 1e-9
        return self._state_derivatives(both, by_q, by_v, found.independent, W)

    def inverse(self):
        """tau, W^T tau, and torques of redundant actuators with costs: all joints of the tree are actuated."""
        m = self.m.copy()
        for joint in m.joints:
            if joint.n_v:
                m.edit_joint(joint.name, actuated=True)
        for link in m.virtual_links:
            m.edit_joint(str(link.joint.name), actuated=False)
        s, a = self.s.copy().follow(m), vc.forward_dynamics(self.m, self.s, self.tau).a
        weights = {next(joint.name for joint in m.joints if joint.n_v): 4.0}
        found = vc.inverse_dynamics_derivatives(m, s, a, self.forces, weights=weights)
        columns = differences.independent_columns(m, found.independent)
        assert found.tau_act is not None

        def forces(state):
            a_all, W = following(m, state, columns, a[columns])
            tree = vc.inverse_dynamics(m, state, a_all, self.forces, actuators=False).tau
            shared = vc.inverse_dynamics(m, state, a_all, self.forces, weights=weights, actuators=True)
            return np.concatenate([tree, W.T @ tree, shared.actuation.tau_act])

        parts = (found.tau, found.tau_ind, found.tau_act)
        by_q, by_v = (np.vstack([getattr(part, by) for part in parts]) for by in ("by_q", "by_v"))
        return self._state_derivatives(forces, by_q, by_v, found.independent, found.W)

    def driven(self):
        """Accelerations and torques of drives: an independent joint of one freedom is driven."""
        layout = layout_of(self.m)
        free = vc.forward_dynamics_derivatives(self.m, self.s).independent
        names = [joint.name for joint in self.m.joints if joint.n_v == 1 and joint.name in free]
        if not names:
            return {}
        drives, given = np.array([layout.slot(names[0]).v.start]), self.rng.normal(size=1)
        found = vc.driven_dynamics_derivatives(self.m, self.s, {names[0]: given}, self.tau)
        by_q, by_v = (np.vstack([getattr(part, by) for part in (found.a, found.drives)]) for by in ("by_q", "by_v"))
        function = self._with_drive(drives[0], given[0])
        return self._state_derivatives(function, by_q, by_v, found.independent, found.W)

    def _with_drive(self, drive, given):
        """Function of a state: accelerations and the torque of a drive, with rows that are kept in the first state."""
        layout = layout_of(self.m)
        table, n, unit = layout.workspaces.of_thread.table, layout.n_v, np.eye(layout.n_v)[[drive]]
        free = np.delete(np.arange(n), drive)
        K = constraint_matrix(layout, table, self.s.q) if layout.n_rows else np.zeros((0, n))
        kept = kept_by_kinematics(K[:, free], layout.rank_tolerance) if layout.n_rows else np.zeros(0, bool)

        def solved(s):
            K = constraint_matrix(layout, table, s.q)[kept] if layout.n_rows else np.zeros((0, n))
            bias = constraint_bias(layout, table, s)[kept] if layout.n_rows else np.zeros(0)
            rows = np.vstack([K, unit])
            system = np.block([[vc.mass_matrix(self.m, s), -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
            right = np.concatenate([self.tau - vc.bias_force(self.m, s), -bias, [given]])
            found = np.linalg.solve(system, right)
            return np.append(found[:n], found[-1])

        return solved

    def joint_forces(self):
        """Wrenches of some joints; of redundant loops those of the rows that are kept."""
        names = [joint.name for joint in self.m.joints][:3]
        found = vc.joint_force_derivatives(self.m, self.s, self.tau, self.forces, joints=names)
        of = vc.forward_dynamics_derivatives(self.m, self.s, self.tau, self.forces)

        def carried(s):
            wrenches, parts = vc.joint_forces(self.m, s, self._motion(s, self.tau), self.forces), []
            for name in names:
                link = self.m.link_of_joint(name)
                place = vc.pose(self.m, s, link.parent.name) @ link.at
                moment, force = wrenches[name][:3], wrenches[name][3:]
                moment = moment + np.cross(vc.pose(self.m, s, link.name).p - place.p, force)
                parts += [place.R.T @ moment, place.R.T @ force]
            return np.concatenate(parts)

        assert relative(found.value, carried(self.s)) < 1e-8
        return self._state_derivatives(carried, found.by_q, found.by_v, of.independent, of.W)

    def impact(self):
        """Velocities after an impact by q; by v they are a projection."""
        s = self.s.copy()
        s.v = self.rng.normal(size=self.m.n_v)
        found = vc.impact_derivatives(self.m, s)
        columns = differences.independent_columns(self.m, found.independent)

        def after(state):
            end = state.copy()
            end.v = s.v
            return vc.project(self.m, end).v

        P = np.asarray(found.by_v)
        assert relative(P @ P, P) < 1e-8 and relative(P @ s.v, after(s)) < 1e-8
        return {h: relative(found.by_q, differences.by_q(after, self.m, s, columns, found.W, h)) for h in STEPS}

    def totals(self):
        """Energy, momentum and centre of mass."""
        found = vc.total_derivatives(self.m, self.s)

        def totals(s):
            energy, momentum = vc.energy(self.m, s), vc.momentum(self.m, s)
            parts = ([energy.kinetic, energy.gravitational + energy.elastic], momentum.angular, momentum.linear)
            return np.concatenate([*parts, vc.center_of_mass(self.m, s)])

        parts = (found.energy, found.momentum, found.center_of_mass)
        by_q, by_v = (np.vstack([getattr(part, by) for part in parts]) for by in ("by_q", "by_v"))
        return self._state_derivatives(totals, by_q, by_v, found.independent, found.W)

    def design(self):
        """Accelerations and positions by numbers of the design; places too where loops are not redundant."""
        m, s = self.m, self.s
        moving = [joint.name for joint in m.joints if joint.n_v]
        link = max(m.links, key=lambda link: link.inertia.mass).name
        by = [f"{link}.mass", f"{link}.Iyy", f"{moving[0]}.damping", f"{moving[-1]}.armature"]
        by += ["gravity.x"]
        if self.kept.all():
            by += [f"{moving[-1]}.x", f"{moving[0]}.ry"]
            by += [f"{m.virtual_links[0].joint.name}.other.z"] if m.virtual_links else []
        m = m.copy()
        for name in moving:
            m.edit_joint(name, damping=(0.1,) * m.joint(name).n_v, armature=(0.01,) * m.joint(name).n_v)
        s = s.copy().follow(m)
        found = vc.design_derivatives(m, s, by, tau=self.tau, forces=self.forces)
        columns, steps = differences.independent_columns(m, found.independent), (1e-3, 2e-4, 5e-5)
        deviations = dict.fromkeys(steps, 0.0)
        for i, (name, one) in enumerate(checked_parameters(layout_of(m), by).items()):
            for h in steps:

                def both(near):
                    there = reclosed(near, s, columns)
                    return np.concatenate(
                        [s.difference(there), vc.forward_dynamics(near, there, self.tau, self.forces).a]
                    )

                size = _size(m, name) if one == "link" else 1.0  # of light links numbers are small
                at = lambda x, name=name, one=one, size=size: redesigned(m, name, one, x * size)  # noqa: E731
                expected = differences.central(both, at, h) / size
                own = np.concatenate([found.q.array[:, i], found.a.by_design.array[:, i]])
                deviations[h] = max(deviations[h], relative(own, expected))
        return deviations

    def step(self):
        """A step of Runge and Kutta's, along some directions."""
        h = 1e-3
        found = vc.linearise(self.m, self.s, h, self.tau)
        columns, n_f = differences.independent_columns(self.m, found.independent), len(found.independent)
        W = vc.forward_dynamics_derivatives(self.m, self.s, prefer=found.independent).W
        few, handle = [0, n_f // 2, n_f - 1], self.m.prepare()

        def end(s):
            x = s.copy()
            handle.advance(x.q, x.v, self.tau, h)
            return np.concatenate([found.state.difference(x)[columns], x.v[columns]])

        return {
            d: relative(found.A[:, few], differences.by_q(end, self.m, self.s, columns, W[:, few], d)) for d in STEPS
        }


def _size(m, name):
    """Size of an inertial parameter."""
    link, _, label = name.rpartition(".")
    return parameters_of(m.link(link).inertia)[LABELS.index(label)]


QUANTITIES = ("forward", "inverse", "driven", "joint_forces", "impact", "totals", "design", "step")
