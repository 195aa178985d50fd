"""Robots from files and to files. No compiler: structure alone."""

from varichain.formats.load import load
from varichain.formats.postures import load_postures
from varichain.formats.save import save
from varichain.formats.source import Note, Source

__all__ = ["Note", "Source", "load", "load_postures", "save"]
