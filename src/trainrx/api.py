"""The functions of the package: what was given in, an answer out; no printing, no exit.

They are the methods of one `Diagnoser`, which keeps what it loaded. Each makes one `Request` of its
inputs and imports its pipeline when it is called. The records hold what the inputs hold, secrets
too; `trainrx.render.render` masks what it writes, and `trainrx.render.redact.masked` gives the same
record without them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal

from trainrx.knowledge.loaded import KnowledgeCache, LoadedKnowledge
from trainrx.launch.request import FailureInputs, Inputs, PathLike, Paths, Request, request_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from trainrx.linter.settings import Settings
    from trainrx.model.estimate import Estimate
    from trainrx.model.findings import Finding
    from trainrx.model.fixing import FixAnswer, RetryAnswer
    from trainrx.model.inspection import Comparison, Inspection
    from trainrx.model.planning import PlanAnswer
    from trainrx.model.result import Diagnosis
    from trainrx.model.translation import Translation

__all__ = [
    "Diagnoser",
    "FailureInputs",
    "Inputs",
    "Request",
    "compare_launches",
    "diagnose",
    "estimate",
    "fix_launch",
    "inspect_launch",
    "lint",
    "plan_job",
    "retry",
    "translate",
]


class Diagnoser:
    """Answers any number of questions, from any number of threads: what that takes is loaded once.

    What is shipped is read once. A folder of further knowledge that has changed is read again; what
    was asked for last is kept.
    """

    def __init__(self) -> None:
        self._cache = KnowledgeCache()

    def loaded(self, request: Request) -> LoadedKnowledge:
        """Give the knowledge that a question names, with what was made of it."""
        return self._cache.of(request.kb, request.rules)

    def diagnose(
        self,
        paths: Paths = (),
        *,
        top: int | None = None,
        engine: Literal["durable", "reference"] = "durable",
        **inputs: Unpack[FailureInputs],
    ) -> Diagnosis:
        """Say why a job failed, or will fail, and what to change.

        Args:
            paths: run folders, scripts, configs or logs, recognised by content; "-" is `stdin`.
            top: how many causes to plan fixes for and to return; None is all.
            engine: durable, or reference.
            inputs: what is known of the job besides; see `FailureInputs`.

        Raises:
            UsageError: an input the caller named cannot be used; says what to do.
            KnowledgeError: a folder of further knowledge is malformed.
        """
        from trainrx.verdict import run

        request = _of_failure(paths, inputs)
        return run.diagnose(request, self.loaded(request), top=top, engine=engine)

    def retry(self, paths: Paths = (), **inputs: Unpack[FailureInputs]) -> RetryAnswer:
        """Say whether starting the same job again would help.

        Args:
            paths: run folders, scripts, configs or logs; "-" is `stdin`.
            inputs: what is known of the job besides; see `FailureInputs`.

        Returns:
            One of four verdicts with its reason; `exit_code` is what `diagnose retry` ends with.

        Raises:
            UsageError: an input cannot be used; says what to do.
            KnowledgeError: a folder of further knowledge is malformed.
        """
        from trainrx.verdict import retrying

        request = _of_failure(paths, inputs)
        return retrying.retry(request, self.loaded(request))

    def lint(
        self, paths: Paths, *, settings: Settings | None = None, **inputs: Unpack[Inputs]
    ) -> tuple[Finding, ...]:
        """Find what is wrong with the launches in some files, the worst first.

        Args:
            paths: launch scripts, configs a framework takes, folders of both; "-" is `stdin`.
            settings: which rules are wanted; all when None.
            inputs: what is known of the job besides; see `Inputs`.

        Raises:
            UsageError: a path or a rule that is named does not exist.
            KnowledgeError: a folder of further knowledge is malformed.
        """
        from trainrx.linter import run

        request = request_of(paths, inputs)
        return run.lint(request, self.loaded(request), settings=settings).findings

    def inspect_launch(self, paths: Paths = (), **inputs: Unpack[Inputs]) -> Inspection:
        """Resolve every launch: each argument with its effective value and where that comes from.

        Values are as they stand: secrets are not masked.

        Args:
            paths: scripts, configs, run folders or logs, recognised by content; "-" is `stdin`.
            inputs: what is known of the job besides; see `Inputs`.

        Raises:
            UsageError: an input cannot be used, or none holds a launch; says what to do.
            KnowledgeError: a folder of further knowledge is malformed.
        """
        from trainrx.inspect import inspection

        request = request_of(paths, inputs)
        return inspection.inspect_launch(request, self.loaded(request))

    def compare_launches(
        self,
        good: PathLike,
        bad: PathLike,
        *,
        versions_good: PathLike | dict[str, str] | None = None,
        versions_bad: PathLike | dict[str, str] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Comparison:
        """Say what differs between two launches: defaults included, renamed arguments matched.

        Of several launches in one file the first training command is compared.

        Args:
            good: a script, config or run folder; the launch that worked, or came first.
            bad: the other one; "-" is `stdin`.
            versions_good: the versions of the first, where they are not those of both.
            versions_bad: the same for the second.
            inputs: what is known of both; see `Inputs`.

        Raises:
            UsageError: an input cannot be used or holds no launch; says what to do.
            KnowledgeError: a folder of further knowledge is malformed.
        """
        from trainrx.inspect import comparison

        both = request_of((), inputs)
        return comparison.compare_launches(
            comparison.side(both, good, versions_good),
            comparison.side(both, bad, versions_bad),
            self.loaded(both),
        )

    def estimate(
        self, paths: Paths = (), *, exact: bool = False, **inputs: Unpack[Inputs]
    ) -> Estimate:
        """Predict the peak memory per GPU of a job, GiB, term by term, and whether it fits.

        Of several training commands in the inputs the first is taken; the others stand in `unread`.

        Args:
            paths: scripts, configs, run folders or logs, recognised by content; "-" is `stdin`.
            exact: also run the real model class without weights or GPU (extra `exact`).
            inputs: what is known of the job besides; see `Inputs`. Several cards are compared.

        Returns:
            Figures, or a `refusal` that says why there are none.

        Raises:
            UsageError: an input cannot be used, or none holds a launch; says what to do.
            KnowledgeError: a folder of further knowledge is malformed.
        """
        from trainrx.estimation import run

        request = request_of(paths, inputs)
        return run.estimate(request, self.loaded(request), exact=exact)

    def plan_job(
        self,
        paths: Paths = (),
        *,
        hardware: Sequence[tuple[str | None, int | None]] = (),
        keep: Collection[str] = (),
        **inputs: Unpack[Inputs],
    ) -> PlanAnswer:
        """Say how a job fits its hardware, and others.

        Args:
            paths: scripts, configs, run folders or logs, recognised by content; "-" is `stdin`.
            hardware: cards by name ("A100-80G") or memory ("24GiB") with their number in the whole
                job; None for either is what the job says. Without any, that of `inputs`.
            keep: parameters that stay as they are, canonical or as the framework spells them.
            inputs: what is known of the job besides; see `Inputs`.

        Raises:
            UsageError: an input cannot be used, or none holds a launch; says what to do.
            KnowledgeError: a folder of further knowledge is malformed.
        """
        from trainrx.prove import hardware_plans

        request = request_of(paths, inputs)
        return hardware_plans.plan_job(request, self.loaded(request), hardware=hardware, keep=keep)

    def fix_launch(
        self,
        paths: Paths = (),
        *,
        keep: Sequence[str] = (),
        plan: int = 1,
        **inputs: Unpack[FailureInputs],
    ) -> FixAnswer:
        """Say what to change in the files of a launch, as edits that passed their checks.

        Nothing is written: `trainrx.fix.patch.write_files` does that with `Proposal.patched`.

        Args:
            paths: run folders, scripts, configs or logs; "-" is `stdin`.
            keep: parameters that must stay as they are, by the framework's name or the canonical
                one.
            plan: which proposal is chosen, from 1.
            inputs: what is known of the job besides; see `FailureInputs`.

        Raises:
            UsageError: an input cannot be used, or there is no proposal of that number.
            KnowledgeError: a folder of further knowledge is malformed.
        """
        from trainrx.verdict import fixing

        request = _of_failure(paths, inputs)
        return fixing.fix_launch(request, self.loaded(request), keep=keep, plan=plan)

    def translate(
        self,
        paths: Paths = (),
        *,
        to: dict[str, str],
        from_: dict[str, str] | None = None,
        edits: bool = False,
        **inputs: Unpack[Inputs],
    ) -> Translation:
        """Say what each argument of a launch is in another version of its framework.

        Args:
            paths: scripts or configs, recognised by content; "-" is `stdin`.
            to: the version wanted, by package name: `{"ms-swift": "4.6"}`; a prefix is its newest.
            from_: the version the launch is written for; without it that of `versions`, else what
                follows from its names.
            edits: work out the edits of the files as well.
            inputs: what is known of the job besides; see `Inputs`.

        Raises:
            UsageError: an input cannot be used, holds no launch, or a version is not known.
        """
        from trainrx.translation import launch

        request = request_of(paths, inputs)
        return launch.translate(request, self.loaded(request), to=to, from_=from_, edits=edits)


def _of_failure(paths: Paths, inputs: FailureInputs) -> Request:
    return request_of(paths, inputs, inputs.get("good"), inputs.get("answers"))


SHARED = Diagnoser()
"""The one behind the functions of the package."""

compare_launches = SHARED.compare_launches
diagnose = SHARED.diagnose
estimate = SHARED.estimate
fix_launch = SHARED.fix_launch
inspect_launch = SHARED.inspect_launch
lint = SHARED.lint
plan_job = SHARED.plan_job
retry = SHARED.retry
translate = SHARED.translate
