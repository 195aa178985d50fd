"""Settings of all tests."""

from hypothesis import HealthCheck, settings

from lane import scaled

# No deadlines: the first example of a process may load or compile kernels, and speed is no matter of the tests.
settings.register_profile(
    "varichain",
    deadline=None,
    derandomize=True,
    max_examples=scaled(100, 20),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("varichain")
