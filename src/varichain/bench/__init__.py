"""Speed beside other libraries: the same questions on the same mechanisms, measured in one run.

`cases` lists what is measured, `contenders` what one library does about it, `interleave` measures, `report` tells.
"""
