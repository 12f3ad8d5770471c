"""What holds for all tests."""

from hypothesis import settings

# Examples are not timed: a busy machine is no failure.
settings.register_profile("wattlas", deadline=None)
settings.load_profile("wattlas")
