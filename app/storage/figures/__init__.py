"""The figures of Storage: tables in, Plotly dictionaries out.

Every trace that can be selected has `meta`:

    kind    `points`, `bars` or `cells`
    rows    for each of its points the configurations behind it, by their number in the study
    words   for each of its points the lines of its hover
    knobs   the knobs that a click selects by; absent: all
    box     what a box around its points selects by: the columns `x` and `y`, and the values of
            `knobs` that all its points have; null: the knobs of each point
"""
