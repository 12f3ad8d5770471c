"""The figures of Storage: tables in, Plotly dictionaries out.

Every trace that can be selected has `meta`:

    kind    `points`, `bars` or `cells`
    rows    for each point the row numbers of its configurations in the study
    words   for each point the lines of its hover
    knobs   the knobs that a click selects by; absent: all
    box     the columns `x` and `y` that a box selects by, and `knobs` with the values that all
            points of the trace have; null: a box selects by the knobs of each point
"""
