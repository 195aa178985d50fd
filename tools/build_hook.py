"""Hatchling's hook: a wheel gets the library of compiled kernels, and is for this Python and platform then.

A wheel without machine code, which fits everywhere, is made with VARICHAIN_PURE=1, and where there is no C compiler.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):  # type: ignore[misc]
    """Builds the library before a wheel is packed; an editable install compiles kernels on first use."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        if version == "editable" or os.environ.get("VARICHAIN_PURE", "0") not in ("", "0"):
            return
        sys.path.insert(0, str(Path(self.root) / "tools"))
        from build_kernels import NoCompilerError, build

        try:
            made = build()
        except NoCompilerError as error:
            self.app.display_warning(f"{error}: the wheel has no machine code, and compiles kernels on first use")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in made:
            build_data["force_include"][str(path)] = f"varichain/kernels/{path.name}"
