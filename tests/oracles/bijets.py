"""Second derivatives straight from the definition: numbers with two sets of infinitesimals, a and b, a^2 = b^2 = 0.

H_jk = E_j(E_k f) is the part a_j b_k of f(q exp(a) exp(b)): first the step that differentiates last, then the other.
Everything is computed over all freedoms at once, eagerly, from the joints' definitions.
"""

import numpy as np

from oracles.rotations import cross_matrix


class Bijet:
    """Array with its parts: value (shape), along a (shape, n), along b (shape, n), along both (shape, n, n)."""

    __array_ufunc__ = None

    def __init__(self, value, a, b, ab):
        self.value, self.a, self.b, self.ab = value, a, b, ab

    @staticmethod
    def constant(value, n):
        value = np.asarray(value, dtype=float)
        shape = value.shape
        return Bijet(value, np.zeros((*shape, n)), np.zeros((*shape, n)), np.zeros((*shape, n, n)))

    @property
    def n(self):
        return self.a.shape[-1]

    def __getitem__(self, key):
        return Bijet(self.value[key], self.a[key], self.b[key], self.ab[key])

    def _of(self, other):
        return other if isinstance(other, Bijet) else Bijet.constant(other, self.n)

    def __add__(self, other):
        o = self._of(other)
        return Bijet(self.value + o.value, self.a + o.a, self.b + o.b, self.ab + o.ab)

    __radd__ = __add__

    def __neg__(self):
        return Bijet(-self.value, -self.a, -self.b, -self.ab)

    def __sub__(self, other):
        return self + (-self._of(other))

    def __rsub__(self, other):
        return self._of(other) + (-self)

    def product(self, other, subscripts):
        """Bilinear product of two arrays in einsum's notation, such as "ij,jk->ik"."""
        left, result = subscripts.split("->")
        x, y = left.split(",")
        o = self._of(other)

        def term(p, q, p_more, q_more):
            more = "".join(sorted(p_more + q_more))
            return np.einsum(f"{x}{p_more},{y}{q_more}->{result}{more}", p, q)

        return Bijet(
            term(self.value, o.value, "", ""),
            term(self.a, o.value, "Y", "") + term(self.value, o.a, "", "Y"),
            term(self.b, o.value, "Z", "") + term(self.value, o.b, "", "Z"),
            term(self.ab, o.value, "YZ", "")
            + term(self.value, o.ab, "", "YZ")
            + term(self.a, o.b, "Y", "Z")
            + term(self.b, o.a, "Z", "Y"),
        )

    def __matmul__(self, other):
        o = self._of(other)
        rules = {(2, 2): "ij,jk->ik", (2, 1): "ij,j->i", (1, 2): "i,ij->j", (1, 1): "i,i->"}
        return self.product(o, rules[self.value.ndim, o.value.ndim])

    def __mul__(self, other):
        o = self._of(other)
        return self.product(o, {0: ",->", 1: "i,i->i"}[self.value.ndim])

    __rmul__ = __mul__

    def apply(self, f, df, ddf):
        """Function of a number, from its first two derivatives."""
        x = self.value
        ab = df(x) * self.ab + ddf(x) * np.outer(self.a, self.b)
        return Bijet(f(x), df(x) * self.a, df(x) * self.b, ab)

    def __pow__(self, c):
        return self.apply(lambda x: x**c, lambda x: c * x ** (c - 1), lambda x: c * (c - 1) * x ** (c - 2))

    def __truediv__(self, other):
        return self * self._of(other) ** -1.0

    def sin(self):
        return self.apply(np.sin, np.cos, lambda x: -np.sin(x))

    def exp(self):
        return self.apply(np.exp, np.exp, np.exp)

    def norm(self):
        return (self @ self) ** 0.5


class Kinematics:
    """World poses of all links as bijets: R (3, 3) and p (3,) by name."""

    def __init__(self, m, s):
        self.n = m.n_v
        self.R, self.p = {"ground": Bijet.constant(np.eye(3), self.n)}, {"ground": Bijet.constant(np.zeros(3), self.n)}
        self.coordinates = {}
        for link in m.links:
            slot = s.layout.slot(link.joint.name)
            R, p = self.R[link.parent.name], self.p[link.parent.name]
            R, p = R @ link.at.R, R @ link.at.p + p
            i, k = slot.q.start, slot.v.start
            for primitive in link.joint.primitives():
                R, p, i, k = self._moved(R, p, primitive, s.q, i, k)
            self.R[link.name], self.p[link.name] = R, p

    def _step(self, ks, scale):
        """Infinitesimal steps of freedoms ks along the columns of `scale` (3, len(ks)): that of a, then that of b."""
        zero = np.zeros((3, self.n))
        own = zero.copy()
        own[:, ks] = scale
        none = np.zeros((3, self.n, self.n))
        return Bijet(np.zeros(3), own, zero, none), Bijet(np.zeros(3), zero, own, none)

    def _moved(self, R, p, primitive, q, i, k):
        if primitive.kind in ("spherical", "free"):
            w, x, y, z = q[i : i + 4]
            if primitive.kind == "free":
                p = R @ q[i + 4 : i + 7] + p
            R = R @ _matrix(w, x, y, z)
            shifts = self._step([k + 3, k + 4, k + 5], np.eye(3)) if primitive.kind == "free" else (None, None)
            for turn, shift in zip(self._step([k, k + 1, k + 2], np.eye(3)), shifts, strict=True):
                if shift is not None:
                    p = R @ shift + p
                R = R @ (turn.product(LEVI_CIVITA, "i,ijk->jk") + np.eye(3))
            return (R, p, i + 4, k + 3) if primitive.kind == "spherical" else (R, p, i + 7, k + 6)
        axis = primitive.R[:, 2:]
        slide = {"prismatic": 1.0, "revolute": 0.0, "screw": primitive.pitch}[primitive.kind]
        turns = 0.0 if primitive.kind == "prismatic" else 1.0
        p = R @ (slide * q[i] * axis[:, 0]) + p
        R = R @ _turn(axis[:, 0], turns * q[i])
        for step in self._step([k], axis):
            p = R @ (step.product(slide, "i,->i")) + p
            R = R @ (step.product(turns, "i,->i").product(LEVI_CIVITA, "i,ijk->jk") + np.eye(3))
        return R, p, i + 1, k + 1


LEVI_CIVITA = np.array([cross_matrix(e) for e in np.eye(3)])


def _matrix(w, x, y, z):
    K = cross_matrix(np.array([x, y, z]))
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K


def _turn(axis, angle):
    K = cross_matrix(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
