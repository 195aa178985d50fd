"""Traces as files that others can look at: pages, films, animations, tables."""

from varichain.exports.files import Exported, export

__all__ = ["Exported", "export"]
