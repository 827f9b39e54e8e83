"""The explorer: its numbers are the reference's, it loads nothing, everybody can use it, and every task can be done."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.authoring.explorer import PAGE, explorer_links, explorer_page
from autograder.course import CourseError, load_course, read_yaml
from autograder.suite import import_file

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
NAMESPACE = "http://www.w3.org/2000/svg"  # the name of a format; nothing is fetched from it
BAND = {"rtol": 0, "atol": 1e-9}


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page, opened as a file. `page.noted` has what it asked for and complained of."""
    path = tmp_path_factory.mktemp("explorer") / PAGE
    content = explorer_page(COURSE)
    assert content is not None
    path.write_bytes(content)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.noted = []
    page.on("request", lambda request: page.noted.append(request.url))
    page.on("console", lambda message: page.noted.append(message.text))
    page.on("pageerror", lambda error: page.noted.append(str(error)))
    page.goto(path.as_uri())
    yield page
    page.close()


def reference(slug: str) -> Any:
    return import_file(next((ROOT / "solutions").glob(f"{slug}_*.py")))


@pytest.mark.parametrize(("strength", "masked"), [(0, False), (0.7, False), (0, True), (2.5, True)])
def test_a_shuffle_gives_the_references_weights_and_gap(page: Any, strength: float, masked: bool) -> None:
    order = [3, 0, 4, 2, 1, 5]
    found = page.evaluate("s => compute.shuffle(s)", {"order": order, "seed": 5, "strength": strength, "masked": masked})
    x, matrices = np.array(found["x"]), {f"w_{name}": np.array(rows) for name, rows in found["matrices"].items()}
    ps2, added = reference("ps2"), reference("ps3").sinusoidal_encoding(6, 4)
    mask = np.tril(np.ones((6, 6), bool)) if masked else None

    def layer(tokens: np.ndarray) -> np.ndarray:
        return np.asarray(ps2.self_attention(tokens + strength * added, **matrices, mask=mask))

    np.testing.assert_allclose(found["plain"]["output"], layer(x), **BAND)
    np.testing.assert_allclose(found["shuffled"]["output"], layer(x[order]), **BAND)
    gap = ps2.equivariance_gap(layer, x, np.array(order))
    assert found["gap"] == pytest.approx(gap, rel=0, abs=1e-9)
    assert (gap < 1e-12) == (not strength and not masked)


@pytest.mark.parametrize("width", [1, 16, 1024])
def test_width_gives_the_references_entropy_and_largest_weight(page: Any, width: int) -> None:
    found = page.evaluate("s => compute.width(s)", {"width": width, "keys": 16, "seed": 1})
    scores = np.array(found["queries"]) @ np.array(found["keys"]).T
    ps4 = reference("ps4")
    for name, divisor in (("plain", 1.0), ("divided", np.sqrt(width))):
        weights = reference("ps1").softmax(scores / divisor)
        assert found[name]["entropy"] == pytest.approx(ps4.entropy(weights).mean(), rel=0, abs=1e-9)
        assert found[name]["largest"] == pytest.approx(weights.max(axis=1).mean(), rel=0, abs=1e-9)
    # A sampling check of the page's own generator: 640 standard normal numbers or more.
    drawn = np.concatenate([np.ravel(found["queries"]), np.ravel(found["keys"])])
    assert abs(drawn.mean()) < 5 / np.sqrt(drawn.size)
    assert abs(drawn.var() - 1) < 5 * np.sqrt(2 / drawn.size)


def test_hull_costs_and_heads_give_the_references_numbers(page: Any) -> None:
    ps1, ps5 = reference("ps1"), reference("ps5")
    settings = {"scores": [-7.5, 0.3, 10], "values": [[0.5, 0.5], [4.5, 1], [2, 3.8]]}
    found = page.evaluate("s => compute.hull(s)", settings)
    np.testing.assert_allclose(found["weights"], ps1.softmax(np.array(settings["scores"])), **BAND)
    np.testing.assert_allclose(found["point"], ps1.mix(np.array(found["weights"]), np.array(settings["values"])), **BAND)
    for length, width in ((16, 32), (131_072, 16_384)):
        found = page.evaluate("s => compute.cost(s)", {"length": length, "width": width})
        assert found["projections"] + found["pairs"] == ps5.attention_flops(length, width)
        assert found["bytes"] == ps5.attention_bytes(length, width, 8) - 4 * length * width * 8
    found = page.evaluate("s => compute.heads(s)", {"length": 8, "first": 1, "second": 3, "sharpness": 4, "seed": 7})
    values, wanted = np.array(found["values"]), {"first": (1,), "second": (3,), "both": (1, 3)}
    for name, distances in wanted.items():
        scores = np.zeros((8, 8))
        for distance in distances:
            scores[np.arange(8), (np.arange(8) - distance) % 8] = 4
        np.testing.assert_allclose(found["tables"][name], ps1.softmax(scores), **BAND)
    targets = [np.roll(values, distance, axis=0) for distance in (1, 3)]
    tables = {name: np.array(table) for name, table in found["tables"].items()}
    one = np.mean([np.square(tables["both"] @ values - target).mean() for target in targets])
    two = np.mean([np.square(tables[name] @ values - target).mean() for name, target in zip(wanted, targets, strict=False)])
    np.testing.assert_allclose([found["one"], found["two"]], [one, two], **BAND)


def test_the_melody_maps_are_of_a_trained_model(page: Any) -> None:
    found = page.evaluate("melodyMaps")
    ps6 = reference("ps6")
    assert found["last_loss"] < 0.05
    for melody in found["melodies"]:
        tokens = np.array([melody["notes"]])
        first, second = (np.array([row + [0.0] * (24 - len(row)) for row in rows]) for rows in melody["maps"])
        for weights in (first, second):
            np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=24 * 5e-5)
        assert ps6.previous_mass(first[np.newaxis], np.array([melody["period"]])) > 0.3
        assert ps6.induction_mass(second[np.newaxis], tokens, np.arange(24)[np.newaxis] >= melody["period"]) > 0.8


def test_nothing_is_loaded_and_only_the_pages_own_code_runs(page: Any) -> None:
    content = page.content()
    assert set(re.findall(r"https?://[^\s\"'<>)]+", content)) == {NAMESPACE}
    assert "sourceMappingURL" not in content
    assert page.noted == [page.url]
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.foreign = true";
        document.body.append(script);
    }""")
    assert page.evaluate("window.foreign") is None
    assert "violates the following Content Security Policy" in page.noted.pop()


def test_every_task_can_be_done_with_the_keyboard(page: Any) -> None:
    def press(section: str, label: str, *keys: str) -> None:
        page.locator(f"#{section}").get_by_label(label, exact=False).first.focus()
        for key in keys:
            page.keyboard.press(key)

    def click(section: str, name: str) -> None:
        page.locator(f"#{section}").get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")

    assert page.locator(".tasks .done").count() == 0
    click("shuffle", "Swap the last two")
    press("shuffle", "Strength of positions", "ArrowRight")
    press("shuffle", "Strength of positions", "End")
    press("shuffle", "Strength of positions", "Home")
    press("shuffle", "Causal mask", "Space")
    press("width", "Width d", "Home", "End")
    press("width", "Keys", "Home")
    for scores in ((-0.8, -1.3, 0), (-1.2, 0, -2.9), (-10, 0, 0), (-10, -10, 10)):
        for number, score in enumerate(scores, start=1):
            page.locator("#hull").get_by_label(f"Score {number}").fill(str(score))
        press("hull", "Aim for", "ArrowDown")
    press("cost", "Width d", "End")
    press("cost", "Width d", "Home")
    press("cost", "Length L", "End")
    press("heads", "Score of a wanted place", "End")
    press("heads", "Second distance", "ArrowLeft", "ArrowLeft")
    place = page.locator("#melody").get_by_label("Reading place")
    for number in (3, 8):
        place.fill(str(number))
    left = page.locator(".tasks li:not(.done)").all_text_contents()
    assert left == []


def test_it_can_be_used_with_a_screen_reader_in_the_dark_and_on_a_phone(page: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python (extra dev) is missing")
    for scheme, width in (("light", 1280), ("dark", 360)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 740})
        page.reload()
        page.locator("details summary").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert axe.Axe().run(page).response["violations"] == []
    page.set_viewport_size({"width": 1280, "height": 900})


def test_handouts_link_to_each_view() -> None:
    page = explorer_page(COURSE)
    assert page is not None
    sections = set(re.findall(r'<section id="(\w+)"', page.decode()))
    views = read_yaml(ROOT / "assignments" / "explorer" / "explorer.yml")["views"]
    assert views.keys() == sections
    linked = set()
    for listed in COURSE.settings.problem_sets:
        problem_set = COURSE.problem_set(listed.slug)
        links = explorer_links(problem_set)
        assert links.keys() <= {question.id for question in problem_set.assignment.questions}
        linked |= {match for link in links.values() for match in re.findall(rf"\]\(\.\./{PAGE}#(\w+)\)", link)}
    slugs = {listed.slug for listed in COURSE.settings.problem_sets}
    assert linked == {name for name, view in views.items() if slugs & view["below"].keys()}


def test_a_changed_library_is_not_released(course_copy: Path) -> None:
    path = course_copy / "assignments" / "explorer" / "vendor" / "uplot.js"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(CourseError, match=r"uplot\.js is not the file of uPlot 1\.6\.32 that explorer\.yml declares"):
        explorer_page(load_course(course_copy))
    shutil.rmtree(path.parents[1])
    assert explorer_page(load_course(course_copy)) is None
