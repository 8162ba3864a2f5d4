"""Whether a bucket may be filed, and where: each refusal is a sentence for a person. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from tputriage.issues.policy import DEVICE_VERSION, Policy, is_newer, newest, order_of, place_of
from tputriage.model import Dossier, Outcome, Repro, ReproStatus, Run, Verdict, VerdictKind

UPSTREAM = frozenset({VerdictKind.EVERYWHERE, VerdictKind.SUITE})


def repository_for(dossier: Dossier, policy: Policy) -> str:
    """Where the bucket's issue belongs; "" where that is nowhere we were asked to file."""
    kind = dossier.verdict.kind if dossier.verdict else VerdictKind.UNDECIDED
    return policy.upstream if kind in UPSTREAM else policy.repository


def why_not(dossier: Dossier, policy: Policy) -> str:
    """Why the bucket is not filed, or "" where it may be."""
    verdict = dossier.verdict
    if verdict is None:
        return "nothing was rerun yet: `tputriage collect` without --no-rerun decides"
    return _BY_VERDICT[verdict.kind](dossier, verdict, policy)


def _machine(dossier: Dossier, verdict: Verdict, policy: Policy) -> str:
    return f"infra, no bug of TorchTPU's: {verdict.reason}"


def _undecided(dossier: Dossier, verdict: Verdict, policy: Policy) -> str:
    return f"undecided: {verdict.reason}"


def _gone(dossier: Dossier, verdict: Verdict, policy: Policy) -> str:
    return f"not reproduced: {verdict.reason}"


def _elsewhere(dossier: Dossier, verdict: Verdict, policy: Policy) -> str:
    if policy.upstream:
        return ""
    whose = "fails on CPU too" if verdict.kind is VerdictKind.EVERYWHERE else "the suite's own check is what fails"
    return f"{whose}, so it is no bug of TorchTPU's: `--upstream OWNER/NAME` files it with the suite"


def _flaky(dossier: Dossier, verdict: Verdict, policy: Policy) -> str:
    rate = verdict.failed / verdict.total if verdict.total else 0.0
    if rate < policy.flaky_rate:
        return f"flaky, in {verdict.failed} of {verdict.total} runs: filed from {policy.flaky_rate:.0%} on"
    return _device(dossier, verdict, policy)


def _device(dossier: Dossier, verdict: Verdict, policy: Policy) -> str:
    repro = dossier.repro
    if repro is None or not repro.source:
        return f"no repro yet: `tputriage minimize {dossier.bucket.id}` makes one"
    return (
        _unverified(repro)
        or _unreliable(repro, policy)
        or _chosen_by_script(repro)
        or _emulator_only(dossier, repro, policy)
    )


_BY_VERDICT: Mapping[VerdictKind, Callable[[Dossier, Verdict, Policy], str]] = {
    VerdictKind.INFRA: _machine,
    VerdictKind.UNDECIDED: _undecided,
    VerdictKind.NOT_REPRODUCED: _gone,
    VerdictKind.EVERYWHERE: _elsewhere,
    VerdictKind.SUITE: _elsewhere,
    VerdictKind.FLAKY: _flaky,
    VerdictKind.TPU_ONLY: _device,
}


def _unverified(repro: Repro) -> str:
    if repro.status is ReproStatus.VERIFIED:
        return ""
    return f"the repro is {repro.status.value}" + (f": {repro.reason}" if repro.reason else "")


def _unreliable(repro: Repro, policy: Policy) -> str:
    failed, total = repro.reliability
    if not total or failed / total >= policy.reliability:
        return ""
    return f"the repro failed in only {failed} of {total} fresh processes, and {policy.reliability:.0%} is asked for"


def _chosen_by_script(repro: Repro) -> str:
    if not repro.asks_device:
        return ""
    return f"the repro asks which device it is on ({repro.asks_device}), so the failure may be the suite's own choice"


def _emulator_only(dossier: Dossier, repro: Repro, policy: Policy) -> str:
    if policy.allow_emulator or not only_emulated(dossier, policy):
        return ""
    return "only the emulator has shown it, no TPU: `--allow-emulator` files it nevertheless"


def only_emulated(dossier: Dossier, policy: Policy) -> bool:
    """No hardware has shown the failure: neither a rerun, nor the repro, nor a report that names its target."""
    failing = {
        target for target, result in (dossier.repro.targets if dossier.repro else {}).items() if result == "fail"
    }
    failing |= {run.target for run in (dossier.verdict.runs if dossier.verdict else ()) if run.outcome.is_failure}
    failing |= {sighting.target for sighting in dossier.history if sighting.target}
    failing -= policy.references
    return bool(failing) and failing <= policy.emulators


# -- fixed? --------------------------------------------------------------------------------------------


def newest_failing(dossier: Dossier) -> str:
    """The newest torch_tpu version that a report, the repro or a verification saw fail."""
    seen = [sighting.versions for sighting in dossier.history]
    seen += [run.versions for run in dossier.verifications if run.outcome.is_failure]
    # pytest-json-report says nothing of torch_tpu, unless the suite tells it; the repro knows what it was made with.
    seen += [dossier.repro.versions] if dossier.repro and dossier.repro.status is ReproStatus.VERIFIED else []
    return newest(tuple(versions.get(DEVICE_VERSION, "") for versions in seen))


def why_not_fixed(dossier: Dossier, policy: Policy) -> str:
    """What is missing for calling it fixed in `dossier.fixed_in`; "" where nothing is."""
    version = dossier.fixed_in
    if not version or order_of(version) is None:
        return "no version is known in which it passes"
    failing = newest_failing(dossier)
    if failing and not is_newer(version, failing):
        return f"it passed with {version}, and fails with {failing}"
    passes = Counter(place_of(run) for run in passing_runs(dossier))
    wanting = [place for place in failed_places(dossier, policy) if _passes(passes, place) < policy.fixed_runs]
    if wanting:
        return f"it passes with {version}, but not yet in {policy.fixed_runs} runs on {', '.join(wanting)}"
    return ""


def passing_runs(dossier: Dossier) -> tuple[Run, ...]:
    """The verifications that passed in the version that fixed it, or a newer one."""
    return tuple(run for run in dossier.verifications if _counts(run, dossier.fixed_in))


def failed_places(dossier: Dossier, policy: Policy) -> tuple[str, ...]:
    """TPU generations, or targets where no generation is known, on which it failed; ("the device",) for none."""
    places = [place_of(sighting) for sighting in dossier.history]
    named = dict.fromkeys(place for place in places if place)
    if not named and dossier.repro:
        named = dict.fromkeys(target for target, result in dossier.repro.targets.items() if result == "fail")
    return tuple(place for place in named if place not in policy.references) or ("the device",)


def _passes(passes: Counter[str], place: str) -> int:
    return sum(passes.values()) if place == "the device" else passes[place]


def _counts(run: Run, version: str) -> bool:
    installed = run.versions.get(DEVICE_VERSION, version)
    return run.outcome is Outcome.PASSED and (installed == version or is_newer(installed, version))
