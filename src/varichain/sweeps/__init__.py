"""Sweeps: trials over grids of parameters, on one machine or on a dask cluster, into one file that survives its writer.

`trials` has keys and seeds, `store` the file, `workers` processes of this machine, `cluster` those of others.
"""

from varichain.sweeps.result import Sweep
from varichain.sweeps.sweeping import sweep

__all__ = ["Sweep", "sweep"]
