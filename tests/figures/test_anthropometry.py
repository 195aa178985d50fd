"""De Leva's table: it is consistent with itself, and scales with height and mass."""

import math

import numpy as np
import pytest

from varichain.errors import InputError, UnknownNameError
from varichain.figures.anthropometry import MEN, PAIRED, SAMPLES, WOMEN, Body, Sample

# Rows of the same table between other end points: segment -> (com %, (sagittal, transverse, longitudinal) %, length).
# Head: vertex to cervicale; hand: wrist to finger tip; shank: knee to ankle centre; all from the same first end.
OTHER_ENDS = {
    "male": {
        "head": (50.02, (30.3, 31.5, 26.1), 0.2429),
        "hand": (36.24, (28.8, 23.5, 18.4), 0.1879),
        "shank": (43.95, (25.1, 24.6, 10.2), 0.4403),
    },
    "female": {
        "head": (48.41, (27.1, 29.5, 26.1), 0.2437),
        "hand": (34.27, (24.4, 20.8, 15.4), 0.1701),
        "shank": (43.52, (26.7, 26.3, 9.2), 0.4386),
    },
}
# The table's row of the whole trunk, suprasternale to mid-hip: (mass %, com %, radii of gyration %, length).
WHOLE_TRUNK = {
    "male": (43.46, 44.86, (37.2, 34.7, 19.1), 0.5319),
    "female": (42.57, 41.51, (35.7, 33.9, 17.1), 0.5293),
}
# Half a unit in the last printed digit of a percentage of length, twice, for the two rows compared.
ROUNDING_OF_COM = 0.01
ROUNDING_OF_GYRATION = 0.1

sexes = pytest.mark.parametrize("sex", list(SAMPLES))


def trunk_from_thirds(sample: Sample) -> tuple[float, float, list[float], float]:
    """Mass %, com %, radii of gyration % and length [m] of the three thirds of the trunk joined."""
    rows = [sample.segments[name] for name in ("upper trunk", "mid trunk", "lower trunk")]
    tops = np.concatenate([[0.0], np.cumsum([row.length for row in rows])])
    masses = np.array([row.mass for row in rows])
    coms = np.array([top + row.com / 100.0 * row.length for top, row in zip(tops[:-1], rows, strict=True)])
    com = masses @ coms / masses.sum()
    gyration = []
    for axis, across in ((0, 1.0), (1, 1.0), (2, 0.0)):
        own = np.array([(row.gyration[axis] / 100.0 * row.length) ** 2 for row in rows])
        squared = masses @ (own + across * (coms - com) ** 2) / masses.sum()
        gyration.append(100.0 * math.sqrt(squared) / tops[-1])
    return float(masses.sum()), float(100.0 * com / tops[-1]), gyration, float(tops[-1])


@sexes
def test_percentages_of_mass_add_up_to_one_body(sex: str) -> None:
    """The mass percentages, limbs counted twice, add up to 100 within the rounding of the table's rows."""
    rows = SAMPLES[sex].segments
    total = sum(row.mass * (2 if name in PAIRED else 1) for name, row in rows.items())
    assert total == pytest.approx(100.0, abs=0.015)


@sexes
def test_thirds_of_the_trunk_make_the_whole_trunk(sex: str) -> None:
    """The three thirds of the trunk, joined, have the mass, length and radii of gyration of the table's whole trunk."""
    mass, _, gyration, length = trunk_from_thirds(SAMPLES[sex])
    assert mass == pytest.approx(WHOLE_TRUNK[sex][0], abs=1e-9)
    assert length == pytest.approx(WHOLE_TRUNK[sex][3], abs=1e-9)
    assert gyration == pytest.approx(list(WHOLE_TRUNK[sex][2]), abs=ROUNDING_OF_GYRATION)


def test_com_of_the_trunk_agrees_with_its_thirds() -> None:
    """The whole trunk's centre of mass is that of its thirds for women; the paper's two rows for men differ by 3 mm."""
    assert trunk_from_thirds(WOMEN)[1] == pytest.approx(WHOLE_TRUNK["female"][1], abs=ROUNDING_OF_COM)
    difference = (trunk_from_thirds(MEN)[1] - WHOLE_TRUNK["male"][1]) / 100.0 * WHOLE_TRUNK["male"][3]
    assert difference == pytest.approx(0.003, abs=0.0005)


@sexes
@pytest.mark.parametrize("segment", ["head", "hand", "shank"])
def test_rows_between_other_ends_describe_the_same_body(sex: str, segment: str) -> None:
    """Centre of mass and radii of gyration in metres do not depend on the end points a row is referred to."""
    row = SAMPLES[sex].segments[segment]
    com, gyration, length = OTHER_ENDS[sex][segment]
    assert row.com * row.length == pytest.approx(com * length, abs=ROUNDING_OF_COM * length)
    for ours, theirs in zip(row.gyration, gyration, strict=True):
        assert ours * row.length == pytest.approx(theirs * length, abs=ROUNDING_OF_GYRATION * length)


@sexes
def test_moments_are_those_of_bodies(sex: str) -> None:
    """No moment of inertia of a segment exceeds the sum of the other two."""
    body = Body(sex=sex)
    for segment in SAMPLES[sex].segments:
        moments = body.segment_moments(segment)
        assert 2.0 * max(moments) <= sum(moments)


@sexes
def test_body_of_the_sample_has_the_table_itself(sex: str) -> None:
    """A body with the sample's stature and mass has the table's lengths, and its masses to the table's rounding."""
    sample = SAMPLES[sex]
    body = Body(sample.stature, sample.mass, sex)
    for name, row in sample.segments.items():
        assert body.segment_length(name) == pytest.approx(row.length, rel=1e-15)
        assert body.segment_mass(name) == pytest.approx(row.mass / 100.0 * sample.mass, rel=2e-4)
        assert body.segment_com(name) == pytest.approx(row.com / 100.0 * row.length, rel=1e-15)
        expected = [body.segment_mass(name) * (k / 100.0 * row.length) ** 2 for k in row.gyration]
        assert body.segment_moments(name) == pytest.approx(expected, rel=1e-14)


def test_thigh_of_the_mean_man() -> None:
    """The mean man's thigh weighs 10.34 kg and has 0.1994 kg m^2 about its transverse axis."""
    body = Body(1.741, 73.0, "male")
    assert body.segment_mass("thigh") == pytest.approx(10.3368, abs=1e-4)
    assert body.segment_com("thigh") == pytest.approx(0.17289, abs=1e-5)
    assert body.segment_moments("thigh")[1] == pytest.approx(0.19944, abs=1e-5)


@sexes
@pytest.mark.parametrize(("height", "mass"), [(1.5, 45.0), (1.75, 70.0), (2.1, 130.0)])
def test_segments_weigh_what_the_body_weighs(sex: str, height: float, mass: float) -> None:
    """The masses of all segments, limbs counted twice, add up to the body's."""
    body = Body(height, mass, sex)
    total = sum(body.segment_mass(name) * (2 if name in PAIRED else 1) for name in SAMPLES[sex].segments)
    assert total == pytest.approx(mass, rel=1e-14)


@sexes
def test_scaling(sex: str) -> None:
    """Lengths grow with height, masses with mass, moments of inertia with mass and the square of height."""
    small, large = Body(1.2, 30.0, sex), Body(1.8, 90.0, sex)
    for name in SAMPLES[sex].segments:
        assert large.segment_length(name) == pytest.approx(1.5 * small.segment_length(name), rel=1e-14)
        assert large.segment_com(name) == pytest.approx(1.5 * small.segment_com(name), rel=1e-14)
        assert large.segment_mass(name) == pytest.approx(3.0 * small.segment_mass(name), rel=1e-14)
        expected = [3.0 * 1.5**2 * moment for moment in small.segment_moments(name)]
        assert large.segment_moments(name) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("height", [0.49, 2.51, 0.0, -1.75, 175, math.nan, math.inf, "1.75", None, True, 1j])
def test_impossible_height_is_refused(height: object) -> None:
    """A height that no person has is refused, and the message names it."""
    with pytest.raises(InputError, match="height"):
        Body(height=height)  # type: ignore[arg-type]


def test_refused_height_says_what_is_valid() -> None:
    """A height in centimetres is answered with the valid range in metres."""
    with pytest.raises(InputError, match=r"0\.5\.\.2\.5 m, not 175"):
        Body(height=175)


@pytest.mark.parametrize("mass", [0.0, -70.0, math.nan, math.inf, "70", None, False])
def test_impossible_mass_is_refused(mass: object) -> None:
    """A mass that no body has is refused, and the message names it."""
    with pytest.raises(InputError, match="mass"):
        Body(mass=mass)  # type: ignore[arg-type]


@pytest.mark.parametrize("sex", ["Male", "m", "", None, 1, ["male"]])
def test_unknown_sex_is_refused(sex: object) -> None:
    """A sex that the table does not have is refused, and the message lists those it has."""
    with pytest.raises(InputError, match="'male', 'female'"):
        Body(sex=sex)  # type: ignore[arg-type]


def test_unknown_segment_is_refused() -> None:
    """A segment that the table does not have is refused, and the message offers the nearest."""
    with pytest.raises(UnknownNameError, match="did you mean 'thigh'"):
        Body().segment_mass("thig")
