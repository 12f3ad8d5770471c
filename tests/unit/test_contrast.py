"""Points stand out from the paper of both themes: 3:1 as WCAG 2.2, 1.4.11 asks."""

import re
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from app.kit.encodings import NUMBER_HUES

THEMES: Final = Path("assets/_kit/theme.js").read_text()


def rgb(hue: str) -> np.ndarray:
    return np.array([int(hue[i : i + 2], 16) for i in (1, 3, 5)], float)


def luminance(color: np.ndarray) -> float:
    share = color / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("hue", [NUMBER_HUES[0], NUMBER_HUES[-1]])
def test_a_point_or_its_outline_stands_out(theme: str, hue: str) -> None:
    own = THEMES[THEMES.index(f"{theme}: {{") :]
    paper = rgb(re.search(r'paper: "(#\w{6})"', own)[1])  # type: ignore[index]
    *color, alpha = map(float, re.search(r"outline: .rgba\(([^)]*)", own)[1].split(","))  # type: ignore[index]
    outline = alpha * np.array(color) + (1 - alpha) * paper
    assert max(contrast(rgb(hue), paper), contrast(outline, paper)) >= 3
