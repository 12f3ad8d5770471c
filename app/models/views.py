"""The views of Models, by tab."""

from typing import Final

from app.kit.page import View

NAME: Final = "models"
# Tab to its views.
VIEWS: Final = {
    "interrupts": (
        View("throughput", "Throughput against load"),
        View("cpu", "CPU left for users against load"),
        View("latency", "Latency against load"),
        View("loss", "Loss against load"),
        View("stack", "CPU by scheme at the crosshair"),
        View("itr", "Interrupts a second of runs against the throttle formula"),
        View("best", "Best scheme under the latency limit"),
    ),
    "energy": (View("energy", "Power against latency by frequency"),),
    "fit": (
        View("predicted", "Predicted against measured"),
        View("residuals", "Residuals of the fit"),
        View("fits", "Fitted numbers", is_picture=False),
    ),
}
TAB_TITLES: Final = {"interrupts": "Interrupts", "energy": "Energy", "fit": "Fit"}
# Rows without a panel: the filtered runs.
RUNS: Final = View("runs", "Runs, in units of a queue", is_picture=False)
ALL: Final = tuple(view for views in VIEWS.values() for view in views)
