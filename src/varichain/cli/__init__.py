"""The command line: `varichain list | run | info | new`."""
