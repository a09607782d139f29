import { type BlockerKind, upgradeStates } from '../../../src/base/vocabulary.ts';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import { loadRolloutSummary } from '../../../src/orchestrator/records/read-records.ts';
import type { Blocker } from '../../../src/rollout/decision/blocker.ts';
import { decide } from '../../../src/rollout/decision/decide.ts';
import type { Action } from '../../../src/rollout/decision/decision.ts';
import type { RolloutView } from '../../../src/rollout/model/rollout.ts';
import { holdsSlot, isUnderWay } from '../../../src/rollout/model/upgrade.ts';
import { describeRollout } from '../../../src/rollout/status/status.ts';
import { anApiBudgetStatus } from '../../support/builders.ts';
import { quietView } from '../../support/quiet-parts.ts';
import type { Night } from '../night.ts';
import { planted } from '../planted-bugs.ts';
import { requestsPerSecond } from '../world/daemon-model.ts';
import type { SeenRollout } from './seen-rollouts.ts';

const minuteMs = 60_000;

// A rollout that nothing is written of is looked at more seldom.
const quietLookMs = 20 * minuteMs;

// What is decided is done at once, but for a leader that dies or stalls, and calls that fail.
const undoneMaxMs = 60 * minuteMs;

/** Blockers that end when a person acts, which is what status says of them. */
const namesPerson: ReadonlySet<BlockerKind> = new Set<BlockerKind>([
  'planApproval',
  'waveApproval',
  'held',
  'paused',
  'recordsUnreadable',
  'newerVersion',
  'account',
  'policyMissing',
  'stratumHeld',
]);

/**
 * Looks at each rollout that is open every minute in which it changed, as an operator does who keeps looking: what status
 * says is what was seen, and what waits, waits for something that ends (P16).
 */
export function watchStatus(
  night: Night,
  isLeftAlone: (of: SeenRollout) => boolean,
): (of: SeenRollout) => void {
  const { scheduler } = night;
  const undone = new Map<string, Undone>();
  const due = new Set<string>();
  const lookAt = (id: string, forMs: number): void => {
    if (due.has(id)) return;
    due.add(id);
    scheduler.at(scheduler.now() + forMs, () => {
      due.delete(id);
      const of = night.seen.all.get(id);
      if (of === undefined) return;
      void judgeStatus(night, of).then((actions) => {
        // Nobody may do it, or nobody is there: its time begins anew.
        if (isLeftAlone(of)) undone.delete(id);
        else judgeUndone(night, of, actions, undone);
      });
      if (of.rollout.endedAt === null) lookAt(id, quietLookMs);
    });
  };
  return ({ rollout }) => lookAt(rollout.id, minuteMs);
}

/** What was decided for a rollout since when, while nothing was written of it. */
interface Undone {
  readonly what: string;
  readonly since: number;
}

/** What is to be done for a rollout is done. */
function judgeUndone(
  { verdicts, scheduler }: Night,
  { rollout }: SeenRollout,
  actions: readonly Action[],
  undone: Map<string, Undone>,
): void {
  const now = scheduler.now();
  // A rollback waits for a plausible inventory, too.
  const waits = rollout.inventory.implausible === null ? [] : ['checkInventory', 'beginRollback'];
  const kinds = actions.map((action) => action.do).filter((kind) => !waits.includes(kind));
  const what = `${kinds.join(' ')} at revision ${rollout.rev}`;
  const before = undone.get(rollout.id);
  const since = before?.what === what ? before.since : now;
  undone.set(rollout.id, { what, since });
  verdicts.check(
    'P16',
    kinds.length === 0 || now - since <= undoneMaxMs,
    `${rollout.id} has had ${what} to do for ${now - since} ms`,
  );
}

/** @returns what is to be done for it now */
async function judgeStatus(night: Night, of: SeenRollout): Promise<readonly Action[]> {
  const { verdicts, scheduler } = night;
  const now = scheduler.now();
  const { id } = of.rollout;
  const { store, register } = planted(night.plant, 'status', night);
  const stored = await loadRolloutSummary({ store, register, ...quietView }, id, now);
  if (stored === undefined) {
    // Meanwhile the store may have lost it.
    verdicts.check('P9', !night.seen.all.has(id), `${id} is gone`);
    return [];
  }
  const view = { ...stored, isPolicyMissing: night.missingSince(of.rollout.policy.name) !== undefined };
  const status = describeRollout(view, now, anApiBudgetStatus({ requestsPerSecondMax: requestsPerSecond }));
  judgeFigures(night, of, status);
  return judgeWaiting(night, of, { view, status });
}

/** What status says is what the writes were. */
function judgeFigures({ verdicts, scheduler }: Night, of: SeenRollout, status: RolloutStatus): void {
  const { id, state } = of.rollout;
  const says = (what: string, said: unknown, is: unknown) =>
    verdicts.check(
      'P16',
      said === is,
      `status of ${id} says ${what} ${String(said)}, and it is ${String(is)}`,
    );
  const counts = new Map<string, number>();
  let slots = 0;
  for (const { progress } of of.upgrades.values()) {
    counts.set(progress.state, (counts.get(progress.state) ?? 0) + 1);
    if (holdsSlot(progress.state)) slots += 1;
  }
  says('state', status.state, state);
  says('inFlight', status.inFlight, slots);
  for (const each of upgradeStates) says(each, status.counts[each], counts.get(each) ?? 0);
  const { eta } = status;
  if (eta === null || !('at' in eta)) return;
  verdicts.check(
    'P16',
    eta.at >= scheduler.now(),
    `status of ${id} expects its end ${scheduler.now() - eta.at} ms ago`,
  );
}

/** A rollout that is open has something to do, or under way, or waits for an instant or for a person. */
function judgeWaiting(
  { verdicts, scheduler }: Night,
  { rollout, upgrades }: SeenRollout,
  { view, status }: { readonly view: RolloutView; readonly status: RolloutStatus },
): readonly Action[] {
  if (rollout.endedAt !== null) return [];
  const { actions, blockers, wakeAt } = decide(view, scheduler.now());
  const isUnderWayNow = [...upgrades.values()].some(
    ({ progress: { state } }) => isUnderWay(state) || state === 'queued' || state === 'deferred',
  );
  const ends = ({ until, kind }: Blocker) => until !== null || namesPerson.has(kind) || kind === 'rollback';
  const isMoving = actions.length > 0 || wakeAt !== null || isUnderWayNow;
  verdicts.check(
    'P16',
    isMoving || blockers.some(ends) || status.headline.needsPerson,
    `${rollout.id} waits for nothing that ends: ${rollout.state}, ${blockers.map(({ kind }) => kind).join(' ')}`,
  );
  return actions;
}
