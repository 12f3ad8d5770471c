"""Responses of callbacks as JSON: the same values as by Plotly's encoder, in another way."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dash import html
from plotly.io.json import to_json_plotly

from app.kit.columns import callback_json
from app.kit.settings import Settings
from app.server import create_app
from tests.callbacks.test_response_cache import opens
from tests.fixtures.lakes import run, write_lake


@pytest.mark.parametrize(
    "value",
    [
        html.Div([html.Span("a < b", **{"data-view": "x"}), None, "text"], hidden=True),
        {"x": np.array([1.5, np.nan, np.inf]), "n": np.arange(4)[::2], 3: "a key that is no text"},
        {"texts": np.array(["a", None], dtype=object), "grid": np.ones((2, 2)).T},
        {"bdata": "NaN/Infinity", "scalar": np.float64(2.5), "count": np.int64(7)},
        [float("nan"), float("-inf"), True, None, "\u2028"],
    ],
)
def test_values_are_those_of_plotly(value: Any) -> None:
    expected = json.loads(to_json_plotly({"response": value}, engine="json"))
    assert json.loads(callback_json({"response": value})) == expected


def test_a_part_without_a_form_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable: object"):
        callback_json({"response": object()})


def test_callbacks_are_encoded_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[dict[str, Any]] = []

    def listening(response: dict[str, Any]) -> str:
        encoded.append(response)
        return callback_json(response)

    monkeypatch.setattr("app.server.callback_json", listening)
    client = create_app(Settings(write_lake(tmp_path / "lake", [run()]))).server.test_client()
    response = opens(client).get_json()["response"]
    assert response["_pages_store"]["data"]["title"] == "wattlas · Storage"
    assert [each["response"].keys() for each in encoded] == [response.keys()]
