"""Which attempt counts, what a person gave, and what lateness costs; the right values are worked out by hand."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.course import Course, Extension, Late, Policy, load_course
from autograder.grades import Grade, Manual, cents, changed_points, days_late, grade, grades, ungraded
from autograder.intake import Submission
from autograder.journal import Attempt, Journal, Stored
from autograder.record import Record
from tests.support import records

TINY = load_course(Path(__file__).resolve().parent / "tiny_course")
TINY_SET = TINY.problem_set("tiny")  # 3 + 4 + 3 points by tests, 1 by a person
DUE = datetime.datetime(2026, 9, 21, 23, 59, tzinfo=datetime.UTC)
HOUR, DAY = datetime.timedelta(hours=1), datetime.timedelta(days=1)
STRICT = Policy(grace_days=1, percent_a_day=10, closes_after_days=7)


def course(policy: Policy = STRICT, *extensions: Extension) -> Course:
    return replace(TINY, settings=TINY.settings.model_copy(update={"policy": policy, "extensions": list(extensions)}))


def record(score: float, *, fault: str = "", written: str = "an answer") -> Record:
    double, note = TINY_SET.question("double"), TINY_SET.question("note")
    questions = [records.score(double, score), records.score(note, answer=written, undone=not written)]
    return records.record(questions, fault=fault)


def attempt_at(submitted: datetime.datetime | None) -> Attempt:
    return Attempt("s001", 1, "tiny.py", "", "", submitted, DUE + 50 * DAY, "")


def graded(
    score: float, submitted: datetime.datetime | None, policy: Policy = STRICT, manual: dict[str, Manual] | None = None
) -> Grade:
    stored = Stored(1, 1, Path("001.json"), record(score))
    return grade(TINY_SET, policy, DUE, attempt_at(submitted), stored, manual or {})


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "tiny")


def hand_in(journal: Journal, submitted: datetime.datetime | None, *graded: Record, student: str = "s001") -> Attempt:
    source = f"{student} {len(journal.attempts(student))}".encode()
    attempt = journal.add(Submission(student, "tiny.py", source, submitted))
    for each in graded:
        journal.append(attempt, each)
    return attempt


def only(course: Course, journal: Journal, manual: dict[str, dict[str, Manual]] | None = None) -> Grade:
    (grade,) = grades(course, TINY_SET, journal, manual)
    return grade


# --- what lateness costs


@pytest.mark.parametrize(
    ("after_due", "penalty", "points", "note"),
    [
        (-30 * DAY, 0, 8, ""),
        (0 * DAY, 0, 8, ""),
        (DAY, 0, 8, ""),  # the last moment of grace
        (DAY + HOUR / 3600, 0.8, 7.2, "1 day late: 10 % a day begun, 0.8 points off."),
        (2 * DAY, 0.8, 7.2, "1 day late: 10 % a day begun, 0.8 points off."),
        (2 * DAY + HOUR / 3600, 1.6, 6.4, "2 days late: 10 % a day begun, 1.6 points off."),
        (4 * DAY - HOUR, 2.4, 5.6, "3 days late: 10 % a day begun, 2.4 points off."),
        (8 * DAY, 5.6, 2.4, "7 days late: 10 % a day begun, 5.6 points off."),
        (8 * DAY + HOUR / 3600, 8, 0, "8 days late: nothing is earned after 7 days."),
        (400 * DAY, 8, 0, "399 days late: nothing is earned after 7 days."),
    ],
)
def test_days_begun_after_the_grace_cost_their_share(
    after_due: datetime.timedelta, penalty: float, points: float, note: str
) -> None:
    grade = graded(8, DUE + after_due)
    assert (grade.penalty, grade.points, grade.notes) == (penalty, points, [note] if note else [])
    assert grade.days_late == pytest.approx(max(0, after_due / DAY - 1), abs=1e-9)


@pytest.mark.parametrize(
    ("policy", "after_due", "points"),
    [
        (Policy(), 300 * DAY, 8),  # no policy: nothing is ever too late
        (Policy(percent_a_day=25), HOUR, 6),
        (Policy(percent_a_day=25), 3 * DAY, 2),
        (Policy(percent_a_day=40), 3 * DAY, 0),  # 120 % is all of it, and no more
        (Policy(closes_after_days=2), 2 * DAY, 8),
        (Policy(closes_after_days=2), 2 * DAY + HOUR, 0),
        (Policy(grace_days=0.5, closes_after_days=2), 2 * DAY + HOUR, 8),
        (Policy(grace_days=0.25, percent_a_day=12.5), 7 * HOUR, 7),
        (Policy(percent_a_day=33.3), HOUR, 5.34),  # 2.664 off, rounded to 2.66
        (Policy(percent_a_day=100), HOUR, 0),
    ],
)
def test_other_policies(policy: Policy, after_due: datetime.timedelta, points: float) -> None:
    assert graded(8, DUE + after_due, policy).points == points


def test_an_unknown_time_counts_as_in_time_and_says_so() -> None:
    grade = graded(8, None)
    assert (grade.days_late, grade.penalty, grade.points) == (0, 0, 8)
    assert grade.notes == ["The time of submission is not known; it counts as in time."]


def test_points_by_a_person_are_late_as_well() -> None:
    grade = graded(8, DUE + 2 * DAY, manual={"note": Manual(0.5, "short")})
    assert (grade.automatic, grade.manual, grade.comments) == (8, {"note": 0.5}, {"note": "short"})
    assert (grade.penalty, grade.points, grade.possible) == (0.85, 7.65, 11)


def test_an_extension_moves_the_grace_and_the_end_of_one_student_only(journal: Journal) -> None:
    for student in ("s001", "s002"):
        hand_in(journal, DUE + 8 * DAY, record(8), student=student)
    extended = course(STRICT, Extension(student="s001", problem_set="tiny", until=DUE + 6 * DAY))
    by_student = {each.student: each for each in grades(extended, TINY_SET, journal)}
    assert (by_student["s001"].days_late, by_student["s001"].points) == (1, 7.2)
    assert (by_student["s002"].days_late, by_student["s002"].points) == (7, 2.4)


@pytest.mark.parametrize(
    ("submitted", "points"),
    [
        ("2026-09-22T01:59:00+02:00", 8),
        ("2026-09-22T01:59:01+02:00", 7.2),
        ("2026-09-21T16:59:00-07:00", 8),
        ("2026-09-21T23:59:00-07:00", 7.2),
        ("2026-09-22T05:44:00+05:45", 8),
        ("2026-09-22T05:45:00+05:45", 7.2),
    ],
)
def test_times_are_compared_across_time_zones(journal: Journal, submitted: str, points: float) -> None:
    hand_in(journal, datetime.datetime.fromisoformat(submitted), record(8))
    assert only(course(Policy(percent_a_day=10)), journal).points == points


def test_a_day_has_24_hours_even_when_clocks_are_set_back(journal: Journal) -> None:
    # In this night clocks go back an hour: from midnight to midnight 25 hours pass.
    berlin = ZoneInfo("Europe/Berlin")
    due = datetime.datetime(2026, 10, 24, 23, 59, tzinfo=berlin)
    policy = Policy(percent_a_day=10)
    for hours, expected in ((24, 1), (25, 25 / 24)):
        moment = due.astimezone(datetime.UTC) + hours * HOUR
        attempt = hand_in(journal, moment.astimezone(berlin), record(8))
        until = course(policy, Extension(student="s001", problem_set="tiny", until=due)).due("tiny", "s001")
        assert days_late(attempt, until, 0) == pytest.approx(expected, abs=1e-9)
        (stored,) = (each for each in journal.attempts("s001") if each.number == attempt.number)
        assert days_late(stored, until, 0) == pytest.approx(expected, abs=1e-9)


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("due", "submitted", "grace", "late"),
    [
        # Clocks go back on the 25th at 3 o'clock: its day has 25 hours.
        ("2026-10-24T23:59:00+02:00", "2026-10-25T22:30:00+00:00", 1, 0),
        ("2026-10-24T23:59:00+02:00", "2026-10-25T22:59:00+00:00", 1, 0),
        ("2026-10-24T23:59:00+02:00", "2026-10-25T22:59:30+00:00", 1, 30 / 86400),
        ("2026-10-24T23:59:00+02:00", "2026-10-26T22:59:00+00:00", 1, 1),
        ("2026-10-24T23:59:00+02:00", "2026-10-24T21:59:01+00:00", 0, 1 / 90000),
        # Due in the hour that is shown twice: at 2:30 for the first time; at 2:10 for the second time it is over. The day
        # after has 25 hours.
        ("2026-10-25T02:30:00+02:00", "2026-10-25T02:20:00+02:00", 0, 0),
        ("2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00", 0, 40 / 1500),
        # Clocks go forward on 28 March at 2 o'clock: its day has 23 hours, and no 2:30.
        ("2026-03-27T23:59:00+01:00", "2026-03-28T23:59:00+01:00", 1, 0),
        ("2026-03-28T23:59:00+01:00", "2026-03-29T23:59:00+02:00", 1, 0),
        ("2026-03-28T23:59:00+01:00", "2026-03-30T23:59:00+02:00", 1, 1),
        ("2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", 1, 0),
    ],
)
def test_days_are_those_of_the_courses_calendar(
    journal: Journal, due: str, submitted: str, grace: float, late: float
) -> None:
    settings = TINY.settings.model_copy(
        update={
            "timezone": "Europe/Berlin",
            "policy": Policy(grace_days=grace, percent_a_day=10),
            "problem_sets": [
                listing.model_copy(update={"due": datetime.datetime.fromisoformat(due)})
                for listing in TINY.settings.problem_sets
            ],
        }
    )
    hand_in(journal, datetime.datetime.fromisoformat(submitted), record(8))
    grade = only(replace(TINY, settings=settings), journal)
    assert grade.days_late == pytest.approx(late, abs=1e-9)
    assert (grade.points == 8) == (late == 0)


@settings(max_examples=200)
@given(
    st.integers(-3 * 86400, 40 * 86400),
    st.integers(0, 3),
    st.datetimes(datetime.datetime(2026, 1, 1), datetime.datetime(2027, 1, 1)),
)
def test_what_is_handed_in_later_is_never_less_late(seconds: int, grace: int, start: datetime.datetime) -> None:
    due = start.replace(tzinfo=datetime.UTC).astimezone(BERLIN)
    moments = [
        due.astimezone(datetime.UTC) + datetime.timedelta(seconds=seconds + more) for more in (0, 1, 1800, 3600, 7200)
    ]
    late = [days_late(attempt_at(moment), due, grace) for moment in moments]
    assert late == sorted(late)
    hours = (moments[0] - due.astimezone(datetime.UTC)) / HOUR - 24 * grace
    assert abs(late[0] - max(0, hours / 24)) <= 1 / 24 + 1e-9  # clocks change by an hour


def test_the_hour_that_is_shown_twice_makes_nobody_earlier() -> None:
    due = datetime.datetime(2026, 10, 24, 2, 45, tzinfo=BERLIN)
    first, second = (
        datetime.datetime(2026, 10, 25, 2, minute, fold=fold, tzinfo=BERLIN) for minute, fold in ((50, 0), (10, 1))
    )
    assert 1 < days_late(attempt_at(first), due, 0) < days_late(attempt_at(second), due, 0) < 2


def test_attempts_without_a_time_are_ordered_by_arrival_and_not_by_the_clock(journal: Journal) -> None:
    for points in (3, 7):
        hand_in(journal, None, record(points))
    # This machine's clock was an hour ahead at the first attempt, and was set back before the second.
    path = journal.root / "s001/001.attempt.json"
    entry = json.loads(path.read_text())
    ahead = datetime.datetime.fromisoformat(entry["received"]) + HOUR
    path.write_text(json.dumps({**entry, "received": ahead.isoformat()}))
    first, second = journal.attempts("s001")
    assert first.received > second.received
    assert only(course(), journal).automatic == 7


def test_of_equal_times_the_later_arrival_counts_and_of_others_the_later_time(journal: Journal) -> None:
    for submitted, points in ((DUE - HOUR, 3), (DUE - HOUR, 4), (DUE - 2 * HOUR, 5)):
        hand_in(journal, submitted, record(points))
    assert only(course(), journal).automatic == 4
    hand_in(journal, None, record(6))
    assert only(course(), journal).automatic == 6  # it arrived after all of them


POINTS = st.integers(0, 1100).map(lambda hundredths: hundredths / 100)
SECONDS = st.integers(-40 * 86400, 40 * 86400)
POLICIES = st.builds(
    Policy,
    grace_days=st.integers(0, 50).map(lambda tenths: tenths / 10),
    percent_a_day=st.integers(0, 1000).map(lambda tenths: tenths / 10),
    closes_after_days=st.none() | st.integers(1, 100).map(lambda tenths: tenths / 10),
)


@given(POINTS, SECONDS, POLICIES)
def test_a_penalty_never_takes_more_than_was_earned(points: float, seconds: int, policy: Policy) -> None:
    grade = graded(points, DUE + datetime.timedelta(seconds=seconds), policy)
    assert 0 <= grade.penalty <= points
    assert grade.points == pytest.approx(points - grade.penalty, abs=1e-9)
    assert (grade.points, grade.penalty) == (cents(grade.points), cents(grade.penalty))
    assert bool(grade.notes) == (grade.days_late > 0)
    assert grade.penalty == 0 or grade.days_late > 0


@given(POINTS, SECONDS, st.integers(0, 20 * 86400), POLICIES)
def test_later_is_never_better_and_grace_never_worse(points: float, seconds: int, more: int, policy: Policy) -> None:
    moment, step = DUE + datetime.timedelta(seconds=seconds), datetime.timedelta(seconds=more)
    score = graded(points, moment, policy).points
    assert graded(points, moment + step, policy).points <= score
    kinder = policy.model_copy(update={"grace_days": policy.grace_days + more / 86400})
    assert graded(points, moment, kinder).points >= score


@given(st.integers(0, 60), st.integers(1, 30), st.integers(1, 10**6))
def test_the_last_moment_of_a_day_is_not_the_next_day(tenths: int, day: int, microseconds: int) -> None:
    """Whatever the decimals of the grace: 1.1 days less 0.1 days is one day."""
    policy = Policy(grace_days=tenths / 10, percent_a_day=1)
    end = DUE + datetime.timedelta(hours=2.4 * tenths) + day * DAY
    assert graded(10, end, policy).penalty == cents(0.1 * day)
    assert graded(10, end + datetime.timedelta(microseconds=microseconds), policy).penalty == cents(0.1 * (day + 1))


@given(POINTS, SECONDS, POLICIES, st.integers(-14 * 60, 14 * 60))
def test_the_time_zone_of_a_submission_does_not_matter(points: float, seconds: int, policy: Policy, minutes: int) -> None:
    moment = DUE + datetime.timedelta(seconds=seconds)
    elsewhere = moment.astimezone(datetime.timezone(datetime.timedelta(minutes=minutes)))
    here, there = graded(points, moment, policy), graded(points, elsewhere, policy)
    assert (here.points, here.penalty, here.days_late, here.notes) == (
        there.points,
        there.penalty,
        there.days_late,
        there.notes,
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (0.005, 0.01), (0.00499, 0), (1.005, 1.01), (2.675, 2.68), (8.165, 8.17), (2.664, 2.66), (1 / 3, 0.33),
     (2 / 3, 0.67), (0.1 + 0.2, 0.3), (29.999999999999996, 30), (10.994999, 10.99)],
)  # fmt: skip
def test_halves_of_a_cent_go_up_as_on_paper(value: float, expected: float) -> None:
    assert cents(value) == expected


@given(st.integers(0, 10**6), st.integers(0, 9))
def test_rounding_agrees_with_decimal_arithmetic(hundredths: int, thousandth: int) -> None:
    exact = hundredths / 100 + thousandth / 1000
    assert cents(exact) == (hundredths + (thousandth >= 5)) / 100
    assert cents(cents(exact)) == cents(exact)


# --- which attempt counts


def policy_of(attempt: str) -> Policy:
    return Policy(attempt=attempt, grace_days=1, percent_a_day=10, closes_after_days=7)  # type: ignore[arg-type]


@pytest.mark.parametrize(("attempt", "number", "points"), [("latest", 3, 3.6), ("best", 2, 7.2), ("latest_in_time", 1, 6)])
def test_the_policy_chooses_the_attempt(journal: Journal, attempt: str, number: int, points: float) -> None:
    hand_in(journal, DUE - DAY, record(6))
    hand_in(journal, DUE + 1.5 * DAY, record(8))
    hand_in(journal, DUE + 2 * DAY, record(4))
    grade = only(course(policy_of(attempt)), journal)
    assert (grade.attempt.number, grade.stored.attempt, grade.points) == (number, number, points)


def test_grace_is_in_time_and_without_an_attempt_in_time_the_latest_counts(journal: Journal) -> None:
    hand_in(journal, DUE + 2 * DAY, record(8))
    hand_in(journal, DUE + 3 * DAY, record(9))
    assert only(course(policy_of("latest_in_time")), journal).attempt.number == 2
    hand_in(journal, DUE + DAY, record(5))
    assert only(course(policy_of("latest_in_time")), journal).attempt.number == 3


def test_the_latest_is_by_time_and_not_by_the_order_of_intake(journal: Journal) -> None:
    for hours, score in ((-5, 5), (-1, 1), (-3, 3)):
        hand_in(journal, DUE + hours * HOUR, record(score))
    assert only(course(), journal).points == 1


def test_of_attempts_of_unknown_time_the_last_received_is_the_latest(journal: Journal) -> None:
    for score in (5, 1, 3):
        hand_in(journal, None, record(score))
    assert only(course(), journal).points == 3
    assert only(course(policy_of("best")), journal).points == 5


def test_of_two_equally_good_attempts_the_later_one_counts(journal: Journal) -> None:
    for hours in (-2, -4):
        hand_in(journal, DUE + hours * HOUR, record(5))
    assert only(course(policy_of("best")), journal).attempt.number == 1


ATTEMPTS = st.lists(st.tuples(st.integers(-5 * 24, 12 * 24), st.integers(0, 10)), min_size=1, max_size=4, unique=True)


@settings(max_examples=25)
@given(ATTEMPTS, st.data())
def test_best_is_best_and_a_fault_never_lowers_a_grade(
    tmp_path_factory: pytest.TempPathFactory, handed_in: list[tuple[int, int]], data: st.DataObject
) -> None:
    journal = Journal(tmp_path_factory.mktemp("journal"))
    for hours, score in handed_in:
        hand_in(journal, DUE + hours * HOUR, record(score))
    courses = [course(policy_of(attempt)) for attempt in ("best", "latest", "latest_in_time")]
    before = [only(each, journal) for each in courses]
    assert before[0].points == max(each.points for each in before)
    by_hand = []
    for hours, score in handed_in:
        begun = math.ceil(max(0, hours - 24) / 24)
        by_hand.append(0 if begun > 7 else score * (10 - begun) / 10)
    assert before[0].points == pytest.approx(max(by_hand))
    faulty = data.draw(st.sampled_from(journal.attempts("s001")))
    name = journal.append(faulty, record(0, fault="the sandbox did not start")).path.name
    assert [only(each, journal) for each in courses] == before
    # Not even if a regrade names it.
    journal.decide("apply", journal.add_run("v2", "1", "", {"s001": {faulty.number: name}}).number)
    assert [only(each, journal) for each in courses] == before


def test_a_student_whose_counting_attempt_is_not_graded_has_no_grade_and_is_named(journal: Journal) -> None:
    hand_in(journal, DUE, record(8), student="s001")
    hand_in(journal, DUE, record(0, fault="no sandbox"), student="s002")
    hand_in(journal, DUE, student="s003")
    hand_in(journal, DUE - HOUR, record(8), student="s004")
    hand_in(journal, DUE, record(0, fault="no sandbox"), student="s004")
    assert [each.student for each in grades(course(), TINY_SET, journal)] == ["s001"]
    assert ungraded(journal, grades(course(), TINY_SET, journal)) == ["s002", "s003", "s004"]
    # The best of what is graded is known all the same.
    assert ungraded(journal, grades(course(policy_of("best")), TINY_SET, journal)) == ["s002", "s003"]


# --- what people gave


def test_a_written_answer_is_not_graded_until_a_person_did(journal: Journal) -> None:
    hand_in(journal, DUE, record(8))
    nothing = only(course(), journal)
    assert (nothing.manual, nothing.complete, nothing.points) == ({}, False, 8)
    comment = only(course(), journal, {"s001": {"note": Manual(None, "see me")}})
    assert (comment.manual, comment.comments, comment.complete) == ({}, {"note": "see me"}, False)
    zero = only(course(), journal, {"s001": {"note": Manual(0.0)}})
    assert (zero.manual, zero.complete, zero.points) == ({"note": 0.0}, True, 8)
    others = only(course(), journal, {"s002": {"note": Manual(1.0)}})
    assert others == nothing


def test_an_empty_answer_needs_no_person(journal: Journal) -> None:
    hand_in(journal, DUE, record(8, written=""))
    assert only(course(), journal).complete


def test_points_of_a_person_stand_in_for_those_of_tests(journal: Journal) -> None:
    hand_in(journal, DUE, record(8))
    grade = only(course(), journal, {"s001": {"double": Manual(3.0, "nice"), "gone": Manual(5.0)}})
    assert (grade.automatic, grade.manual, grade.points, grade.comments) == (0, {"double": 3.0}, 3, {"double": "nice"})
    assert grade.by_question == {"double": 3.0}


def test_a_regrade_recomputes_points_and_penalty_and_keeps_what_people_gave(journal: Journal) -> None:
    attempt = hand_in(journal, DUE + 3 * DAY, record(5))
    manual = {"s001": {"note": Manual(1.0, "well put")}}
    before = only(course(), journal, manual)
    assert (before.automatic, before.penalty, before.points) == (5, 1.2, 4.8)
    name = journal.append(attempt, record(9)).path.name
    run = journal.add_run("v2", "1", "", {"s001": {1: name}}).number
    assert only(course(), journal, manual) == before
    journal.decide("apply", run)
    after = only(course(), journal, manual)
    assert (after.automatic, after.penalty, after.points) == (9, 2, 8)
    assert (after.manual, after.comments) == (before.manual, before.comments)
    journal.decide("revert", run)
    assert only(course(), journal, manual) == before


def test_a_changed_policy_recomputes_grades_from_what_is_kept(journal: Journal) -> None:
    hand_in(journal, DUE + 3 * DAY, record(5))
    points = [only(course(Policy(percent_a_day=percent)), journal).points for percent in (0, 10, 20, 0)]
    assert points == [5, 3.5, 2, 5]


# --- lateness that a person noted, and how points are said


def test_noted_lateness_counts_where_no_time_is_known_and_only_there() -> None:
    stored = Stored(1, 1, Path("001.json"), record(8))
    noted = grade(TINY_SET, STRICT, DUE, attempt_at(None), stored, {}, 3.0)
    assert (noted.days_late, noted.points, noted.lateness) == (2, 6.4, "2 days")
    assert noted.notes[-1] == "Handed in 3 days after it was due, as the course staff noted."
    within_grace = grade(TINY_SET, STRICT, DUE, attempt_at(None), stored, {}, 1.0)
    assert (within_grace.days_late, within_grace.points, within_grace.lateness) == (0, 8, "")
    assert grade(TINY_SET, STRICT, DUE, attempt_at(DUE), stored, {}, 3.0).points == 8


def test_points_are_said_alike_until_and_after_a_person_has_read() -> None:
    assert graded(8, DUE).in_words == "8 of 10 by tests, 1 to be read"
    assert graded(8, DUE, manual={"double": Manual(9.0)}).in_words == "9 of 10 so far, 1 to be read"
    assert graded(8, DUE, manual={"note": Manual(0.5)}).in_words == "8.5 of 11"


def test_late_in_course_yml_is_read_for_its_student(journal: Journal) -> None:
    hand_in(journal, None, record(8))
    hand_in(journal, None, record(8), student="s002")
    late = course()
    late.settings.late.append(Late(student="s001", problem_set="tiny", days=2))
    try:
        assert [each.points for each in grades(late, TINY_SET, journal)] == [7.2, 8]
    finally:
        late.settings.late.clear()


def test_only_points_that_changed_are_said() -> None:
    whole = records.record([records.score(question) for question in TINY_SET.assignment.questions])
    same = replace(graded(2, DUE), stored=Stored(1, 1, Path("001.json"), whole))
    assert changed_points(TINY_SET, [same]) == []
    [said, *_] = changed_points(TINY_SET, [graded(2, DUE)])
    assert "is new since 1 of 1 were graded" in said


def test_a_share_of_a_day_is_said_in_the_plural() -> None:
    late = graded(8, DUE + DAY, Policy(closes_after_days=0.5))
    assert late.notes == ["1 day late: nothing is earned after 0.5 days."]
