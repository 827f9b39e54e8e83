"""The gate of a release: is the problem set whole, does its grader tell right from wrong, and is nothing given away?

The checks of the sources come first. If they find nothing, submissions of which the verdict is known are graded by the real
engine: the reference, the untouched template, mutants, alternatives, and mutants that are generated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from autograder import variants
from autograder.authoring.check import Check
from autograder.authoring.dependence import answer_checks
from autograder.authoring.frame_checks import follow_through_check, public_check, tests_without_follow_through
from autograder.authoring.mutation import EQUIVALENTS, Mutation, drawn, equivalents, mutations
from autograder.authoring.own_run import own_run_checks
from autograder.authoring.sources import source_checks
from autograder.authoring.template import problem_set_files
from autograder.course import Course, CourseError, ProblemSet
from autograder.intake import Submission
from autograder.messages import Conditions, Task
from autograder.record import Record
from autograder.run import cores, graded
from autograder.runtime.outcomes import Status
from autograder.suite import import_file
from autograder.testing.errors import UNDONE
from autograder.variants import Variant

# At least this share of a question's generated mutants must lose points.
KILLED_SHARE = 0.95
# Variants that a question needs at least, by its kind. The mutants of a choice are its wrong letters.
FEWEST = {"mutants": {"code": 5, "choice": 2}, "alternatives": {"code": 2}}
# The reference must do with this share of the time and memory that a submission has.
LIMITS_SHARE = 0.1
# A machine that is busy now is not the reference's fault.
LIMITS_TRIES = 2
SHUFFLES = 3
Key = tuple[str, str]
_USUAL = Conditions(unsound=True)


class _Results:
    """Records of known submissions, by kind and name, and what they must be."""

    def __init__(self, problem_set: ProblemSet, records: Mapping[Key, Record]) -> None:
        self.problem_set = problem_set
        self.records = dict(records)

    def outcomes(self, key: Key) -> dict[str, Status]:
        return {verdict.test: verdict.status for verdict in self.records[key].verdicts}

    def not_passed(self, key: Key) -> dict[str, str]:
        """The question of each test that the submission did not pass, by the test's name."""
        verdicts = self.records[key].verdicts
        return {verdict.test: verdict.question for verdict in verdicts if verdict.status is not Status.PASSED}

    def fault(self, key: Key) -> str:
        return self.records[key].fault


def validate(
    course: Course,
    problem_set: ProblemSet,
    *,
    most_mutations: int,
    jobs: int = 0,
    on_progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> list[Check]:
    """All checks of a problem set, in the order of the table. `most_mutations=0` leaves generated mutants out."""
    checks = list(source_checks(course, problem_set))
    if any(check.problems for check in checks):
        return [*checks, Check("graded submissions", ["not run, because the sources have problems"])]
    try:
        return [*checks, *_graded_checks(course, problem_set, most_mutations, jobs or cores(), on_progress)]
    except CourseError as error:
        return [*checks, Check("tests can be collected", str(error).splitlines())]


def _graded_checks(
    course: Course,
    problem_set: ProblemSet,
    most_mutations: int,
    jobs: int,
    on_progress: Callable[[str, int, int], None],
) -> Iterator[Check]:
    def grade(what: str, tasks: Mapping[Key, Task], conditions: Conditions = _USUAL, jobs: int = jobs) -> dict[Key, Record]:
        on_progress(what, 0, len(tasks))
        records = {}
        for key, record in graded(course.root, problem_set, tasks, jobs=jobs, conditions=conditions):
            records[key] = record
            on_progress(what, len(records), len(tasks))
        return records

    # One worker, for its start takes longer than these three. It comes first: if a test file is broken, nothing else counts.
    module, notebook = f"{problem_set.assignment.module}.py", f"{problem_set.assignment.module}.ipynb"
    files = problem_set_files(course, problem_set)
    reference = Submission("reference", module, problem_set.solution.read_bytes())
    tasks: dict[Key, Task] = {("reference", "module"): Task(reference)}
    for form in (module, notebook):
        tasks["template", form] = Task(Submission("template", form, files[f"{problem_set.slug}/{form}"]))
    for _ in range(LIMITS_TRIES):
        within = Conditions(share=LIMITS_SHARE, unsound=True)
        results = _Results(problem_set, grade("reference and template", tasks, within, jobs=1))
        failing = results.not_passed(("reference", "module"))
        if not failing:
            break
    else:
        results = _Results(problem_set, grade("reference and template", tasks, jobs=1))
    problems = list(_reference_problems(results))
    yield Check("points add up", [], f"{sum(question.points for question in problem_set.assignment.questions):g} points")
    yield Check("the reference earns all points", problems, f"{len(results.outcomes(('reference', 'module')))} tests")
    yield Check("the untouched template earns nothing", list(_template_problems(results)))
    if problems:
        yield Check("all that follows", ["not run, because the reference does not earn all points"])
        return
    yield Check(
        "the reference needs at most a tenth of the limits",
        [f"{test} passes, but not with a tenth of time and memory" for test in failing],
        f"{results.records['reference', 'module'].seconds:.2f} s in all",
    )
    on_progress("the student's own run", 0, 1)
    yield from own_run_checks(course, problem_set)
    yield from answer_checks(course, problem_set)

    reached, tests_of_question = _reached(results)
    declared = {kind: _declared(problem_set, kind) for kind in ("mutants", "alternatives")}
    tasks = {
        (kind, name): Task(_as_submission(problem_set, variant), reached[_replaced(problem_set, variant)])
        for kind, own in declared.items()
        for name, variant in own.items()
    }
    every_mutation = mutations(problem_set) if most_mutations else []
    generated = {str(place): mutation for place, mutation in enumerate(drawn(problem_set, every_mutation, most_mutations))}
    for place, mutation in generated.items():
        submission = Submission("generated", module, mutation.source.encode())
        tasks["generated", place] = Task(submission, tests_of_question[mutation.question], first_failure=True)
    tests = tuple(results.outcomes(("reference", "module")))
    order = Random(problem_set.assignment.seed)
    orders: list[Key] = [("reference", f"order {number}") for number in range(1, SHUFFLES + 1)]
    tasks |= {key: Task(reference, tuple(order.sample(tests, len(tests)))) for key in orders}
    results.records.update(grade("mutants and alternatives", tasks))
    yield _enough_check(problem_set, declared)
    yield _mutants_check(results, declared["mutants"])
    yield follow_through_check(problem_set, results.records, declared["mutants"])
    yield public_check(problem_set, results.records, declared["mutants"])
    yield _hints_check(results, declared["mutants"])
    yield _silence_check(results, declared["mutants"])
    yield _alternatives_check(results, declared["alternatives"])
    if generated:
        yield _generated_check(results, generated, every_mutation)
    yield _idle_tests_check(results)
    yield _same_check(results, orders)
    faults = [f"{key}: {results.fault(key)}" for key in results.records if results.fault(key)]
    yield Check("the grader is never at fault", faults, f"{len(results.records)} submissions")


def _reference_problems(results: _Results) -> Iterator[str]:
    key = ("reference", "module")
    if results.fault(key):
        yield f"the grader failed: {results.fault(key)}"
    for verdict in results.records[key].verdicts:
        if verdict.status is not Status.PASSED:
            yield f"{verdict.test}: {verdict.status}: {verdict.message.partition(chr(10))[0]}"
    for problem in results.records[key].problems:
        yield f"the reference does not run: {problem}"


def _template_problems(results: _Results) -> Iterator[str]:
    for key, record in results.records.items():
        if key[0] == "template":
            for question in record.questions:
                if question.score:
                    yield f"{key[1]}: {question.id} earns {question.score:g} points with nothing done"
                elif not question.undone:
                    yield f"{key[1]}: {question.id} does not say {UNDONE!r}"
            for problem in record.problems:
                yield f"{key[1]} does not run: {problem}"


def _declared(problem_set: ProblemSet, kind: str) -> dict[str, Variant]:
    path = problem_set.folder / f"{kind}.py"
    if not path.exists():
        raise CourseError(f"{path} is missing; every code question needs mutants and alternatives")
    declared = variants.declared_in(import_file(path))
    names = [variant.name for variant in declared]
    known = {question.id for question in problem_set.assignment.questions}
    for variant in declared:
        if variant.question not in known:
            raise CourseError(
                f"{path}: {variant.name} is for {variant.question!r}, which is not a question of assignment.yml"
            )
        if names.count(variant.name) > 1:
            raise CourseError(f"{path}: two variants are called {variant.name}")
    return {f"{variant.question}: {variant.name}": variant for variant in declared}


def _replaced(problem_set: ProblemSet, variant: Variant) -> str:
    return variant.replaces or problem_set.question(variant.question).names[0]


def _as_submission(problem_set: ProblemSet, variant: Variant) -> Submission:
    source = variants.as_submission(variant, _replaced(problem_set, variant), problem_set.solution)
    return Submission(variant.name, f"{problem_set.assignment.module}.py", source)


def _reached(results: _Results) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The tests that a variant of a name can change, and the tests of each question.

    A variant replaces one name: it changes the tests that ask for it, and those of questions that build on it. Of these,
    tests without follow-through are left out, for there another question's mistake may cost points.
    """
    assignment = results.problem_set.assignment
    verdicts = results.records["reference", "module"].verdicts
    by_question = {
        question.id: tuple(verdict.test for verdict in verdicts if verdict.question == question.id)
        for question in assignment.questions
    }
    by_name, exempt = {}, tests_without_follow_through(results.problem_set)
    for name in (name for question in assignment.questions for name in question.names):
        built_on = {question.id for question in assignment.questions if name in question.uses}
        by_name[name] = tuple(
            verdict.test
            for verdict in verdicts
            if name in verdict.uses or (verdict.question in built_on and verdict.test not in exempt)
        )
    return by_name, by_question


def _enough_check(problem_set: ProblemSet, declared: Mapping[str, Mapping[str, Variant]]) -> Check:
    problems = []
    for kind, fewest in FEWEST.items():
        counts = Counter(variant.question for variant in declared[kind].values())
        for question in problem_set.assignment.questions:
            needed = fewest.get(question.kind, 0)
            if counts[question.id] < needed:
                problems.append(f"{question.id} has {counts[question.id]} {kind}; a {question.kind} question needs {needed}")
    return Check("enough mutants and alternatives", problems)


def _mutants_check(results: _Results, mutants: Mapping[str, Variant]) -> Check:
    problems = []
    for name, mutant in mutants.items():
        verdicts = results.records["mutants", name].verdicts
        lost = {verdict.question for verdict in verdicts if verdict.score < verdict.points}
        if mutant.question not in lost:
            problems.append(f"{name} loses no points")
        if others := sorted(lost - {mutant.question}):
            problems.append(f"{name} loses points on {', '.join(others)} too")
    return Check("every mutant loses points, and only on its question", problems, f"{len(mutants)} mutants")


def _hints_check(results: _Results, mutants: Mapping[str, Variant]) -> Check:
    """No mutant may be taken for another one. What is too common to be named gets the hints of the tests that fail."""
    problems, named = [], 0
    for name, mutant in mutants.items():
        told = [slip for question in results.records["mutants", name].questions for slip in question.slips]
        named += bool(told)
        problems += [f"{name} gets the hint of {slip.mutant}" for slip in told if slip.hint != mutant.hint]
        if not mutant.hint:
            problems.append(f"{name} has no hint")
    return Check("no mutant gets another one's hint", problems, f"{named} of {len(mutants)} are named")


def _silence_check(results: _Results, mutants: Mapping[str, Variant]) -> Check:
    """What staff read of a hidden test, with its numbers, must not be in what students read of it."""
    problems = []
    messages = 0
    for name in mutants:
        record = results.records["mutants", name]
        for verdict in record.verdicts:
            if verdict.hidden and verdict.status is Status.FAILED and "should be" in verdict.message:
                messages += 1
                if verdict.message in verdict.title + record.told(verdict):
                    problems.append(f"{verdict.test} shows students: {verdict.message}")
    return Check("hidden tests keep their numbers", problems, f"{messages} messages")


def _alternatives_check(results: _Results, alternatives: Mapping[str, Variant]) -> Check:
    problems = []
    for name in alternatives:
        for verdict in results.records["alternatives", name].verdicts:
            if verdict.status is not Status.PASSED:
                problems.append(f"{name} fails {verdict.test}: {verdict.message.partition(chr(10))[0]}")
    return Check("every alternative earns all points", problems, f"{len(alternatives)} alternatives")


def _generated_check(results: _Results, generated: Mapping[str, Mutation], every_mutation: Sequence[Mutation]) -> Check:
    known = {(entry.question, entry.before, entry.after) for entry in equivalents(results.problem_set)}
    made = {(mutation.question, mutation.before, mutation.after) for mutation in every_mutation}
    problems, details = [], []
    used = set()
    survivors: dict[str, list[Mutation]] = {}
    totals: dict[str, int] = {}
    for name, mutation in generated.items():
        key = (mutation.question, mutation.before, mutation.after)
        survived = not results.not_passed(("generated", name))
        if key in known:
            used.add(key)
            if not survived:
                problems.append(f"{EQUIVALENTS}: {mutation.question}: `{mutation.after}` is killed, so it is not equivalent")
            continue
        totals[mutation.question] = totals.get(mutation.question, 0) + 1
        if survived:
            survivors.setdefault(mutation.question, []).append(mutation)
    for question, total in totals.items():
        left = survivors.get(question, [])
        listed = [f"{question}: survivor: `{survivor.before}` → `{survivor.after}`" for survivor in left]
        if len(left) > (1 - KILLED_SHARE) * total:
            problems.append(
                f"{question}: {total - len(left)} of {total} generated mutants lose points; {KILLED_SHARE:.0%} are needed"
            )
            problems += listed
        else:
            details += listed
    for question, before, after in sorted(known - made):
        problems.append(f"{EQUIVALENTS}: no generated mutant is `{before}` → `{after}` in {question}")
    killed = sum(totals.values()) - sum(map(len, survivors.values()))
    share = f"{killed} of {sum(totals.values())} killed, {len(used)} equivalent"
    return Check("generated mutants lose points", problems, "\n".join([share, *details]))


def _idle_tests_check(results: _Results) -> Check:
    failed = {test for key in results.records if key[0] in ("mutants", "generated") for test in results.not_passed(key)}
    # A prediction is not tested; any answer of the right form earns its points.
    questions = results.problem_set.assignment.questions
    predictions = {f"prediction_{question.id}" for question in questions if question.prediction}
    idle = [test for test in results.outcomes(("reference", "module")) if test not in failed | predictions]
    return Check("every test is failed by some mutant", [f"{test}: no mutant fails it" for test in idle])


def _same_check(results: _Results, keys: Sequence[Key]) -> Check:
    expected = results.outcomes(("reference", "module"))
    problems = []
    for key in keys:
        outcomes = results.outcomes(key)
        problems += [f"{key[1]}: {test}: {outcomes[test]}" for test in expected if outcomes.get(test) != expected[test]]
    return Check("the same verdicts in any order", problems, f"{len(keys)} orders")
