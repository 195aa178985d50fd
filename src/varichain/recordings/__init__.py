"""Recorded motions of people: files of motion capture as points and orientations over time."""

from varichain.recordings.loading import load_recording
from varichain.recordings.recording import Recording

__all__ = ["Recording", "load_recording"]
