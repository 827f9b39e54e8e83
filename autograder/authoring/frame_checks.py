"""What the gate asks of the teaching frame: is all of it declared, are public tests enough, does follow-through work?"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from autograder.assignment import Question
from autograder.authoring.check import Check
from autograder.authoring.frame import museum, payoffs
from autograder.course import CourseError, ProblemSet
from autograder.record import Record, Verdict
from autograder.runtime.outcomes import Status
from autograder.variants import Variant

# The share of the automatic points that public tests should give.
PUBLIC_SHARE = (0.5, 0.6)
Records = Mapping[tuple[str, str], Record]


def declaration_check(problem_set: ProblemSet) -> Check:
    """Everything that surrounds a question is declared; what is missing is a warning, what is wrong a problem."""
    questions = problem_set.assignment.questions
    drawn = payoffs(problem_set)
    known = {question.id for question in questions}
    problems = [f"{problem_set.folder / 'payoffs.py'}: {name} is not a question" for name in drawn if name not in known]
    try:
        entries = museum(problem_set)
    except CourseError as error:
        entries, problems = {}, [*problems, str(error)]
    problems += [
        f"{question.id}: the prediction's payoff {question.prediction.payoff} is not in payoffs.py"
        for question in questions
        if question.prediction and question.prediction.payoff not in drawn
    ]
    warnings = [
        f"{question.id} has no {missing}"
        for question in questions
        for missing in _missing(problem_set, question, drawn, entries)
    ]
    minutes = sum(question.minutes or 0 for question in questions)
    return Check("the teaching frame is declared", problems, f"{minutes} minutes, {len(drawn)} drawings", warnings)


def _missing(problem_set: ProblemSet, question: Question, drawn: list[str], entries: Mapping[str, str]) -> Iterator[str]:
    if not question.minutes:
        yield "minutes"
    if not question.difficulty:
        yield "difficulty"
    if question.kind == "prediction":
        return
    if not question.hints:
        yield "hints"
    if question.id not in problem_set.explanations:
        yield "explanation"
    elif not problem_set.explanations[question.id].another_way:
        yield "other way in its explanation"
    if question.kind == "code" and question.id not in drawn:
        yield "drawing in payoffs.py"
    if question.kind == "code" and question.id not in entries:
        yield "entry in the error museum"
    if question.kind == "choice" and not question.options:
        yield "options"
    if question.kind == "written" and not question.rubric:
        yield "rubric"


def public_check(problem_set: ProblemSet, records: Records, mutants: Mapping[str, Variant]) -> Check:
    """Public tests give about half of the automatic points, and catch every question's most frequent mistakes."""
    verdicts = records["reference", "module"].verdicts
    public = sum(verdict.points for verdict in verdicts if not verdict.hidden)
    share = public / sum(verdict.points for verdict in verdicts)
    problems = []
    for name, mutant in mutants.items():
        if mutant.frequent and not any(not verdict.hidden for verdict in _lost(records["mutants", name], mutant.question)):
            problems.append(f"{name} is frequent, but passes every public test")
    frequent = {mutant.question for mutant in mutants.values() if mutant.frequent}
    warnings = [
        f"{question.id} has no mutant marked as frequent"
        for question in problem_set.assignment.questions
        if question.kind == "code" and question.id not in frequent
    ]
    if not PUBLIC_SHARE[0] <= share <= PUBLIC_SHARE[1]:
        wanted = " to ".join(f"{limit:.0%}" for limit in PUBLIC_SHARE)
        warnings.append(f"public tests give {share:.0%} of the automatic points; {wanted} is a good share")
    return Check("public tests catch frequent mistakes", problems, f"{share:.0%} of the points", warnings)


def follow_through_check(problem_set: ProblemSet, records: Records, mutants: Mapping[str, Variant]) -> Check:
    """What a mutant loses on questions that build on it, and nothing else, is restored."""
    if not problem_set.follow_through:
        return Check("follow-through restores what depends on a mutant", [], "switched off in course.yml")
    problems, restored = [], 0
    for name, mutant in mutants.items():
        replaced = mutant.replaces or problem_set.question(mutant.question).names[0]
        dependent = {question.id for question in problem_set.assignment.questions if replaced in question.uses}
        for verdict in records["mutants", name].verdicts:
            if verdict.question in dependent and verdict.status is not Status.PASSED:
                restored += 1
                if verdict.follow_through is not Status.PASSED:
                    problems.append(f"{name}: {verdict.test} is not restored")
            elif verdict.follow_through is Status.PASSED:
                problems.append(f"{name}: {verdict.test} does not depend on {replaced}, but is restored")
    return Check("follow-through restores what depends on a mutant", problems, f"{restored} tests restored")


def tests_without_follow_through(problem_set: ProblemSet) -> set[str]:
    """The tests that are marked `follow_through=False`: what another question's mistake costs there is not restored."""
    functions = (
        node
        for path in problem_set.test_files
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    )
    return {
        function.name
        for function in functions
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        and any(keyword.arg == "follow_through" and ast.unparse(keyword.value) == "False" for keyword in decorator.keywords)
    }


def _lost(record: Record, question: str) -> list[Verdict]:
    return [verdict for verdict in record.verdicts_of(question) if verdict.status is not Status.PASSED]
