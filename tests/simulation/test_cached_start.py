"""A process that finds its kernels in the cache compiles nothing."""

import subprocess
import sys

from lane import compiled_only

PROGRAM = """
import varichain as vc
m = vc.Mechanism("pendulum")
m.add_link("bob", joint=vc.Revolute("y", name="pivot", limits=(-1, 1)), inertia=vc.Inertia.point(1.0, com=(0, 0, -1)))
s = m.state()
s["pivot"].v = 1.0
vc.simulate(m, s, 0.01, events=[vc.at(0.005, vc.push("bob", (1, 0, 0)))])
"""


@compiled_only
def test_a_second_process_simulates_without_compiling():
    """A run with limits and an event, in a process that comes after another such one, has nothing to compile."""
    for _ in range(2):
        found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert found.stderr == ""
