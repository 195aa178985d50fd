"""Traces as files that others can look at: pages, films, animations, tables."""

from varichain.exports.files import Exported, export
from varichain.exports.look import Look

__all__ = ["Exported", "Look", "export"]
