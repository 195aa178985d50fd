"""Words for colours: what the parts of figures and props are made of, and what to call any other colour."""

from __future__ import annotations

from typing import Final

MATERIALS: Final = {
    "skin": "#d8a98b",
    "hair": "#4a3527",
    "eyes": "#2b2b30",
    "shoes": "#31353d",
    "trousers": "#46505f",
    "blue shirt": "#4f7fb8",
    "red shirt": "#b5524f",
    "green shirt": "#4d9470",
    "violet shirt": "#8468a8",
    "teal shirt": "#2f8f9d",
    "ochre shirt": "#a8884a",
    "steel": "#8c96a0",
    "wood": "#a97c50",
    "turf": "#b9c3ae",
    "ice": "#d3e4ee",
}
"""Colours of figures and props by what they show."""

_WORDS: Final = {
    "white": "#ffffff",
    "light grey": "#c8c8c8",
    "grey": "#808080",
    "dark grey": "#404040",
    "black": "#000000",
    "red": "#d62020",
    "dark red": "#800000",
    "orange": "#f08020",
    "yellow": "#f0e020",
    "green": "#20a030",
    "light green": "#90e090",
    "teal": "#209090",
    "blue": "#2050d0",
    "light blue": "#90c0f0",
    "dark blue": "#102060",
    "violet": "#8040c0",
    "pink": "#f090c0",
    "brown": "#805030",
}


def material_name(red: float, green: float, blue: float) -> str:
    """A material of figures or props, if it has exactly this colour (each part from 0 to 1); else the nearest word."""
    exact = "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))
    known = {color: name for name, color in MATERIALS.items()}
    if exact in known:
        return known[exact]
    return min(_WORDS, key=lambda word: _distance(_WORDS[word], (red, green, blue)))


def _distance(text: str, color: tuple[float, float, float]) -> float:
    parts = (int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return sum((a - b) ** 2 for a, b in zip(parts, color, strict=True))
