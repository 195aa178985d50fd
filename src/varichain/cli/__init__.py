"""The command line: `varichain list | run | info | plot | export | view | new | bench`."""
