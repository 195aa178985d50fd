"""A commented scenario file to start from."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from varichain.mechanism.joints import Free
from varichain.scenarios.parameters import Parameter, first_line, parameters_of

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

_MOST_NAMES = 30


def template(name: str) -> str:
    """YAML text that runs the scenario as it is, with its parameters and all that may be added as comments."""
    from varichain.scenarios import SCENARIOS

    builder = SCENARIOS[name]
    scenario = builder()
    m = scenario.mechanism
    joints = [str(link.joint.name) for link in (*m.links, *m.virtual_links) if link.joint is not None]
    single, amount = _watched(m)
    loops = [str(link.joint.name) for link in m.virtual_links if link.joint is not None]
    movable = [str(joint.name) for joint in m.joints if not isinstance(joint, Free)]
    link = _quoted(m.links[0].name)
    lines = [
        f"# {name}: {first_line(builder)}",
        "# A line that begins with # is a comment: remove the # to make it count.",
        f"# Numbers are in SI units (m, kg, s, rad) unless they say otherwise: {_quoted('30 deg')}, 500 ms, 2 cm.",
        "",
        f"scenario: {_quoted(name)}",
        "",
        "parameters:",
        *(_parameter_line(parameter) for parameter in parameters_of(builder).values()),
        "",
        f"until: {scenario.until:g}  # [s]",
        *_settings(scenario.settings),
        "",
        f"# joints: {_names(joints)}",
        f"# links: {_names([link.name for link in m.links])}",
        *([f"# frames: {_names(list(m.frames))}"] if m.frames else []),
        "",
        "# Parts of the scenario to leave out: events, controller, motion, forces.",
        "# without: [events]",
        "",
        "# What happens, besides the scenario's own events.",
        "# events:",
        "#   - at: 500 ms",
        "#     name: let go",
        f"#     do: {{cut: {_quoted((loops or movable or ['JOINT'])[0])}}}",
        f"#   - when: {{joint: {_quoted(single)}, above: {amount}}}",
        f"#     do: {{push: {{link: {link}, impulse: [1 N s, 0, 0]}}}}",
        f"#   - when: {{height_of: {link}, below: -1 m}}",
        f"#     do: {{connect: {{a: {link}, b: ground, joint: spherical, name: nail}}}}",
        "#   - at: 900 ms",
        "#     do: {stop: enough}",
        "",
        "# Torques towards a pose, and constant forces.",
        f"# controller: {{pd: {{target: {{{_quoted(single)}: {amount}}}, stiffness: 5, damping: 0.5}}}}",
        "# forces:",
        f"#   - {{link: {link}, force: [0, 0, 1 N]}}",
        "",
        "# What links touch, and with what, besides the scenario's own; counts with contacts alone.",
        "# surfaces:",
        "#   - {name: table, shapes: {kind: half-space, at: [0, 0, -2 m]}, friction: 0.5}",
        "# contact_shapes:",
        f"#   {link}: {{kind: sphere, radius: 2 cm}}",
    ]
    return "\n".join(lines) + "\n"


def _watched(m: Mechanism) -> tuple[str, str]:
    """A joint of one coordinate for the examples, and a value that it may have."""
    single = [joint for joint in m.joints if joint.n_q == 1]
    if not single:
        return "JOINT", "30 deg"
    return str(single[0].name), "30 deg" if single[0].coordinates == ("angle",) else "10 cm"


def _parameter_line(parameter: Parameter) -> str:
    is_given = parameter.default is not inspect.Parameter.empty
    value = _plain(parameter.default) if is_given else "REQUIRED"
    choices = f" One of {', '.join(map(str, parameter.choices))}." if parameter.choices else ""
    about = f"  # {parameter.about}{choices}" if parameter.about or choices else ""
    return f"  {parameter.name}: {value}{about}"


def _settings(settings: dict[str, Any]) -> list[str]:
    remarks = {"method": "euler, rk4, rk45 or gbs", "step": "grid of time [s]", "sample": "between stored samples [s]"}
    remarks |= {"tolerance": "of rk45 and gbs", "limits": "hard, soft or off", "contacts": "exact, stepping or off"}
    defaults: dict[str, Any] = {"method": "rk45", "step": 1e-3, "sample": 1e-3, "tolerance": 1e-9, "limits": "hard"}
    defaults["contacts"] = "off"
    lines = []
    for key, about in remarks.items():
        own = settings.get(key)
        if own is None and key == "sample":
            own = settings.get("step")
        value = own if isinstance(own, str | int | float) else defaults[key]
        lines.append(f"# {key}: {_plain(value)}  # {about}")
    return lines


def _plain(value: Any) -> str:
    """A value as YAML; JSON is YAML."""
    if isinstance(value, str):
        return _quoted(value)
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _quoted(text: str) -> str:
    """Text as it is where YAML reads it as text, else in quotes."""
    import yaml

    try:
        is_plain = yaml.safe_load(f"{{k: {text}}}") == {"k": text}
    except yaml.YAMLError:
        is_plain = False
    return text if is_plain else json.dumps(text)


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
