# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "varichain"]
# ///
"""A knee exoskeleton: how much virtual friction suits its operator?

The motor makes the knee feel other values than the exoskeleton has. Operator B swings his leg at some viscosities; his
moment is U-shaped, his muscles' activity is least above its minimum, and the criteria choose a value in between.
"""

import numpy as np

from varichain import exo


def main() -> None:
    """Look at stability, try some viscosities, adjust."""
    exoskeleton = exo.Exoskeleton()
    print(exo.stability(exoskeleton, exo.Impedance(inertia=0.0, viscosity=1.56, gravity=5.4)))
    adjusted = exo.adjust(exoskeleton, "B", viscosity=np.linspace(0.0, 5.0, 13), repeats=5)
    for level, moments in zip(adjusted.viscosity, adjusted.moments, strict=True):
        print(f"{level:5.2f} N m s/rad: {moments.mean():5.1f} N m")
    print(f"moment is least at {adjusted.moment.at:.2f} N m s/rad, activity is least at {adjusted.activity.at:.2f}")
    print(f"adjusted viscosity {adjusted.virtual.viscosity:.2f} N m s/rad")


if __name__ == "__main__":
    main()
