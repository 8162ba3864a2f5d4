"""`tputriage minimize`: a bucket's test -> the roads -> a script in the store -> fresh processes -> a repro."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tputriage.console import Done, Steps, plural, progress, stoppable
from tputriage.errors import InputError
from tputriage.minimize.compile_road import compile_seen
from tputriage.minimize.draft import Draft
from tputriage.minimize.emit import finish
from tputriage.minimize.flakes import asks_for
from tputriage.minimize.memory import Memory
from tputriage.minimize.roads import VERIFICATIONS, Case, Trip, not_reproduced, settle, take_roads
from tputriage.model import Bucket, Dossier, Repro, ReproStatus, Run, VerdictKind
from tputriage.pipeline.lookup import find_bucket
from tputriage.pipeline.place import Place, device_versions, find_place, settings_for, suite_folder, workers
from tputriage.pipeline.second import is_second, keep_second, settle_second
from tputriage.pipeline.views import minimized_view
from tputriage.signatures import regroup
from tputriage.store import Store, open_store
from tputriage.targets.fresh import end_running, run_script
from tputriage.targets.seam import Runner, Target

STOPPING_S = 0.1  # how often scripts that were just starting are ended too
Chosen = tuple[Dossier, str]  # a bucket and the test to shrink


def minimize(
    *,
    ids: Sequence[str],
    every: bool,
    budget_s: float,
    again: bool,
    store: Path,
    quiet: bool,
    root: Path | None,
    **machine: Any,
) -> Done:
    """Exit code 1 where a bucket asked for has no verified repro at the end; each is stored as soon as it is made."""
    with open_store(store, create=False) as opened:
        chosen = _chosen(opened, ids, every)
        known = [dossier.repro for dossier, _ in chosen if _is_done(dossier) and not again]
        todo = [pair for pair in chosen if again or not _is_done(pair[0])]
        made = _minimize_all(opened, todo, root, budget_s, quiet, machine) if todo else []
        stored = tuple(
            f"{repro.bucket}: its repro is stored already; --again makes it anew" for repro in known if repro
        )
        notes = (*stored, *_regroup(opened, made))
    repros = [*(repro for repro in known if repro), *made]
    return minimized_view(repros, notes)


def _chosen(store: Store, ids: Sequence[str], every: bool) -> list[Chosen]:
    if bool(ids) == every:
        raise InputError("name one or more tests or buckets, or give --all: `tputriage show` lists the buckets")
    dossiers = store.dossiers()
    if every:
        wanted = [dossier for dossier in dossiers if _fails_on_the_device_only(dossier)]
        return [(dossier, dossier.bucket.representative) for dossier in wanted]
    return list({found[0].bucket.id: found for found in (find_bucket(store, dossiers, item) for item in ids)}.values())


def _fails_on_the_device_only(dossier: Dossier) -> bool:
    return bool(dossier.bucket.failures) and (
        dossier.verdict is not None and dossier.verdict.kind is VerdictKind.TPU_ONLY
    )


def _is_done(dossier: Dossier) -> bool:
    return dossier.repro is not None and dossier.repro.status is ReproStatus.VERIFIED


def _minimize_all(
    store: Store, todo: Sequence[Chosen], root: Path | None, budget_s: float, quiet: bool, machine: Mapping[str, Any]
) -> list[Repro]:
    settings = settings_for(root, **machine)
    folder = suite_folder(root, settings.root, store.root_of(todo[0][1]))
    place = find_place(folder, **machine)
    made: list[Repro] = []
    with (
        stoppable(partial(_kept, store, todo, made)),
        workers(place, [test for _, test in todo]) as pair,
        progress("minimizing", quiet=quiet) as step,
    ):
        for number, (dossier, test) in enumerate(todo):
            case = _case(store, place, dossier, test, pair, budget_s)
            told = partial(_told, step, number, len(todo), dossier.bucket.id, budget_s, time.monotonic())
            told("starting")
            made.extend(_minimize_one(store, place, dossier, replace(case, on_progress=told)))
    return made


def _kept(store: Store, todo: Sequence[Chosen], made: Sequence[Repro]) -> str:
    asked = [dossier.bucket.id for dossier, _ in todo]
    count = sum(repro.bucket in asked for repro in made)  # what was found behind them has repros too
    have = "has its repro" if len(todo) == 1 else "have their repro"
    done = f"{count} of {plural(len(todo), 'bucket')} {have} in {store.folder}"
    draft = store.folder / "repros" / f"{asked[min(count, len(todo) - 1)]}.draft.py"
    best = f", and {draft} is the smallest script so far" if draft.is_file() else ""
    return f"{done}{best}: the same command goes on with the rest"


def _regroup(store: Store, made: Sequence[Repro]) -> tuple[str, ...]:
    """The cause outranks the symptom: buckets merge or split by the operators that were found, and it is said."""
    before = [dossier.bucket for dossier in store.dossiers() if not is_second(dossier)]
    ids = {bucket.id for bucket in before}
    verified = [repro for repro in made if repro.status is ReproStatus.VERIFIED and repro.bucket in ids]
    operators = {repro.test_id: repro.operator for repro in verified}
    if not any(operators.values()):
        return ()
    after = regroup(before, operators)
    for bucket in after.buckets:
        if bucket not in before:
            store.save_bucket(bucket)
    return after.notes


def _told(step: Steps, done: int, total: int, bucket: str, budget_s: float, began_s: float, said: str) -> None:
    """What is left is at most each bucket's budget, as long as there is some of this one's."""
    left_s = max(0.0, budget_s - (time.monotonic() - began_s)) + (total - done - 1) * budget_s
    step(done, total, f"{bucket}: {said}", left_s)


def _case(
    store: Store, place: Place, dossier: Dossier, test: str, pair: tuple[Runner, Runner], budget_s: float
) -> Case:
    assert place.root is not None
    return Case(
        test_id=test,
        wanted=dossier.bucket.signature,
        device=pair[0],
        reference=pair[1],
        limit_s=place.settings.limit_s,
        budget_s=budget_s,
        asks=asks_for(dossier.verdict),
        on_better=lambda source: _keep_draft(store, dossier.bucket.id, source),
        memory=Memory(
            store.folder / "repros" / f"{dossier.bucket.id}.asked", about=partial(_about, place, test, pair[0])
        ),
        compiles=compile_seen(dossier.bucket.failures, dossier.verdict.knobs if dossier.verdict else {}),
    )


def _about(place: Place, test: str, device: Runner) -> str:
    """What answers of the oracle hold for."""
    versions = device_versions(place, getattr(device, "versions", {}))
    return " ".join([test, device.target.name, *(f"{name}={versions[name]}" for name in sorted(versions))])


def _keep_draft(store: Store, bucket_id: str, source: str) -> None:
    """The best so far is on disk at any moment."""
    store.write_script(f"{bucket_id}.draft.py", source)


def _minimize_one(store: Store, place: Place, dossier: Dossier, case: Case) -> list[Repro]:
    """The bucket's repro, and those of what its test stops at behind it."""
    draft, trip = take_roads(case)
    repro = _verified(store, place, dossier, draft, trip) if draft else not_reproduced(dossier.bucket, trip)
    _save(store, dossier, case, repro)
    if draft is None or not draft.behind or repro.status is not ReproStatus.VERIFIED:
        return [repro]
    second = keep_second(store, draft.behind[0], draft.moved, dossier.bucket.id)
    if second is None:
        return [repro]
    moved = (*case.elsewhere, draft.moved)
    behind = _minimize_one(store, place, Dossier(second), _case_behind(store, case, second, moved))
    settle_second(store, behind[0], draft.moved, dossier.bucket.id)
    return [repro, *(found for found in behind if found.status is ReproStatus.VERIFIED)]


def _case_behind(store: Store, case: Case, bucket: Bucket, moved: tuple[str, ...]) -> Case:
    return replace(
        case,
        wanted=bucket.signature,
        elsewhere=moved,
        on_better=lambda source: _keep_draft(store, bucket.id, source),
        memory=Memory(),
    )


def _save(store: Store, dossier: Dossier, case: Case, repro: Repro) -> None:
    """The repro stands: what would have resumed the run goes."""
    store.save_repro(repro)
    case.memory.forget()
    (store.folder / "repros" / f"{dossier.bucket.id}.draft.py").unlink(missing_ok=True)


def _verified(store: Store, place: Place, dossier: Dossier, draft: Draft, trip: Trip) -> Repro:
    versions = device_versions(place, getattr(trip.case.device, "versions", {}))
    source = finish(draft, versions, device=place.device.device, templates=_templates(place))
    path = store.write_script(f"{dossier.bucket.id}.py", source)
    trip.case.on_progress("verifying in fresh processes")
    device_runs, reference_runs = run_on_both(place, path)
    repro = settle(dossier.bucket, draft, trip, source, device_runs, reference_runs)
    return replace(repro, script=str(path), versions=versions)


def _templates(place: Place) -> Path | None:
    return Path(place.settings.templates) if place.settings.templates else None


def run_on_both(place: Place, path: Path, times: int = VERIFICATIONS) -> tuple[list[Run], list[Run]]:
    """The script in fresh processes: (`times` on the device, once on the reference), as many at once as slots allow."""
    limit_s = place.settings.limit_s

    def once(target: Target) -> list[Run]:
        return run_script(target, path, limit_s=limit_s)

    at_once = place.device.slots > 1 and not place.device.chips  # a chip is taken by one process at a time
    with ThreadPoolExecutor(max_workers=place.device.slots + 1) as pool:
        parts: list[Future[list[Run]]] = []
        try:
            parts.append(pool.submit(once, place.reference))
            parts.extend(pool.submit(once, place.device) for _ in range(times if at_once else 0))
            alone = [] if at_once else run_script(place.device, path, limit_s=limit_s, times=times)
            return [*alone, *(run for part in parts[1:] for run in part.result())], parts[0].result()
        except BaseException:  # Ctrl-C: the threads would wait for their scripts to end
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(part.done() for part in parts):
                end_running()
                time.sleep(STOPPING_S)
            raise
