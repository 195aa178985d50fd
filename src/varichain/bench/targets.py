"""What the project wants: ratios to other libraries' times, growth with size, start and memory."""

from __future__ import annotations

from varichain.bench.contenders import CONSTRAINED, D_CONSTRAINED, D_FORWARD, D_INVERSE, FORWARD, INVERSE, LEFT_OPEN

_RATIOS = {
    (INVERSE, "figure, open", "Pinocchio"): 2.6,
    (INVERSE, "figure, open", "MuJoCo"): 2.6,
    (FORWARD, "figure, open", "Pinocchio"): 3.0,
    (FORWARD, "figure, open", "MuJoCo"): 3.0,
    (CONSTRAINED, "figure, 2 hands + 2 feet", "Pinocchio"): 5.0,
    (CONSTRAINED, "figure, 2 hands + 2 feet", "MuJoCo"): 4.5,
    (CONSTRAINED, "ladder of 40", "Pinocchio"): 15.0,
    (CONSTRAINED, "ladder of 40", "MuJoCo"): 2.0,
    ("one step, euler", "figure, open", "MuJoCo"): 2.0,
    ("one step, euler", "figure, 4 welds", "MuJoCo"): 2.0,
    (LEFT_OPEN, "figure, 4 welds", "MuJoCo"): 2.0,
    ("20 steps, euler", "figure, 4 welds", "MuJoCo"): 3.5,
    ("inverse kinematics", "figure, open", "mink"): 5.0,
    ("inverse kinematics", "figure, open", "pink"): 8.0,
    ("batch", "figure, 4 welds", "MuJoCo"): 2.5,
}
ACTUATED = 5.0  # inverse dynamics of a closed chain: at most so many times its forward dynamics
DERIVATIVES = {  # times of the figure's own inverse dynamics, at most
    (D_INVERSE, "figure, open"): 10.0,
    (D_FORWARD, "figure, open"): 25.0,
    (D_CONSTRAINED, "figure, 4 welds"): 60.0,
}
FRIENDLY = 15e-6  # [s]: a friendly call on the figure
FUNCTIONS = 100e-6  # [s]: six composed functions of the figure with their Hessians
DESIGNS = 11.1  # [s]: 1,000 designs of a four-bar in 36 positions, forces in all joints
DESIGNS_BESIDE = 10.0  # times faster than one state after the other
CHANGES = {  # [s]: a structure change of the figure
    "a hand lets go": 25e-6,
    "a hand grasps, impact included": 60e-6,
    "an elbow of the tree is cut": 60e-6,
}
READY, IMPORTED = 1.5, 0.3  # [s]: a later process to its first result, the import
MEMORY = 200.0  # in megabytes: a whole process that computes the chain of 1000


def ratio_target(task: str, mechanism: str, library: str) -> float | None:
    """Their time over ours that is wanted at least; None if nothing is."""
    return _RATIOS.get((task, mechanism, library))


def growth_target(times: float) -> float:
    """Growth of the cost that is allowed when the size grows so many times: linear, and a fifth."""
    return 1.2 * times
