import type { DurationMs, EpochMs } from '../base/time.ts';
import { type Action, decide } from '../rollout/decide.ts';
import { evolve } from '../rollout/evolve.ts';
import type { RolloutFact } from '../rollout/evolve-rollout.ts';
import type { UpgradeFact } from '../rollout/facts.ts';
import type { RolloutView } from '../rollout/rollout.ts';
import type { Upgrade, UpgradeState } from '../rollout/upgrade.ts';
import { type ChangeRolloutParts, saveRolloutFact, waitForLeavingCreates } from './change-rollout.ts';
import { describeUpgradeChange } from './describe-change.ts';
import type { Fence, StepQueue } from './ports.ts';

export interface ReconcileParts extends ChangeRolloutParts {
  readonly queue: StepQueue;
  readonly answerWithinMs: DurationMs;
}

// Each pass must have changed something to be followed by another; more than this is a bug, not a long list.
const passesMax = 10_000;

// How many candidates, retries and overdue steps one pass handles.
const pageSize = 500;

type Did = 'changed' | 'unchanged' | 'stale';

interface Pass {
  readonly parts: ReconcileParts;
  readonly view: RolloutView;
  readonly fence: Fence;
}

type Executors = {
  readonly [Kind in Action['do']]: (pass: Pass, action: Extract<Action, { do: Kind }>) => Promise<Did>;
};

/**
 * Brings one rollout as far as it can go now: load, decide, act, record, and again while something changed. Level-
 * triggered: it looks at what is, so a lost message or a crash between two lines costs nothing but time.
 * @param overdueMs a step due for longer than this may have lost its job, and is delivered anew
 * @returns when to look again if nothing happens before
 */
export async function reconcile(
  parts: ReconcileParts,
  rolloutId: string,
  fence: Fence,
  overdueMs: DurationMs,
): Promise<EpochMs | null> {
  for (let passNumber = 0; passNumber < passesMax; passNumber += 1) {
    const now = parts.clock.now();
    const view = await parts.store.loadView(rolloutId, { now, overdueBefore: now - overdueMs, pageSize });
    if (view === undefined) return null;
    const decision = decide(view, now);
    const did = await actAll({ parts, view, fence }, decision.actions);
    if (did === 'stale') return now;
    if (did === 'unchanged') return decision.wakeAt;
  }
  throw new Error(`rollout ${rolloutId} did not come to rest in ${passesMax} passes`);
}

async function actAll(pass: Pass, actions: readonly Action[]): Promise<Did> {
  let changed: Did = 'unchanged';
  for (const action of actions) {
    const did = await act(pass, action);
    // The rest was decided from a view that is no more.
    if (did === 'stale') return 'stale';
    if (did === 'changed') changed = 'changed';
    if (did === 'changed' && action.do !== 'admit' && action.do !== 'withdrawWaiting') return 'changed';
  }
  return changed;
}

function act(pass: Pass, action: Action): Promise<Did> {
  // The table is exhaustive by type; TypeScript can't see that the row and the action belong together.
  const executor = executors[action.do] as (pass: Pass, action: Action) => Promise<Did>;
  return executor(pass, action);
}

const executors: Executors = {
  openWave: (pass, { wave }) => save(pass, { kind: 'waveOpened', at: nowOf(pass), wave }),
  beginSoak: (pass, { wave, endsAt }) => save(pass, { kind: 'soakBegun', at: nowOf(pass), wave, endsAt }),
  passWave: (pass, { wave }) => save(pass, { kind: 'wavePassed', at: nowOf(pass), wave }),
  hold: async (pass, { reason }) => {
    // The failure that tripped the wave set the brake; what was leaving then is through when the hold can be seen.
    if (pass.view.braked) await waitForLeavingCreates(pass.parts, pass.view.rollout.id);
    return save(pass, { kind: 'held', at: nowOf(pass), reason });
  },
  liftBrake: (pass) => save(pass, { kind: 'brakeLifted', at: nowOf(pass) }),
  finish: (pass, { state }) => save(pass, { kind: 'finished', at: nowOf(pass), state }),
  close: (pass) => save(pass, { kind: 'closed', at: nowOf(pass) }),
  admit,
  deliver: async ({ parts, view }, { collectorIds }) => {
    await parts.queue.redeliver(view.rollout.id, collectorIds);
    return 'unchanged';
  },
  withdrawWaiting,
};

async function save({ parts, view, fence }: Pass, fact: RolloutFact): Promise<Did> {
  const result = await saveRolloutFact(parts, view.rollout, fact, 'daemon', fence);
  return result === 'saved' ? 'changed' : 'stale';
}

/** Gives free slots to collectors, all in one atomic write, and a job to each that got one. */
async function admit(
  { parts, view, fence }: Pass,
  { collectorIds, slots }: Extract<Action, { do: 'admit' }>,
): Promise<Did> {
  const { rollout } = view;
  const fact: UpgradeFact = { kind: 'admitted', at: parts.clock.now() };
  const upgrades = await parts.store.loadUpgrades(rollout.id, collectorIds);
  const changes = upgrades
    .map((before) => changeOf({ parts, view, fence }, before, fact))
    .filter((change) => change.after !== change.before);
  if (changes.length === 0) return 'stale';
  const admission = { rolloutId: rollout.id, rolloutRev: rollout.rev, slots, changes };
  const admitted = new Set(await parts.store.admit(admission, fence));
  // A crash here leaves admitted collectors without a job; their steps become overdue and are delivered then.
  await parts.queue.deliver(rollout.id, [...admitted]);
  for (const { after, events } of changes) {
    if (admitted.has(after.collectorId)) for (const event of events) parts.sink.tell(event);
  }
  return admitted.size === 0 ? 'stale' : 'changed';
}

/** Ends what has not started, a page at a time; what runs is left to be watched. */
async function withdrawWaiting(
  pass: Pass,
  { reason }: Extract<Action, { do: 'withdrawWaiting' }>,
): Promise<Did> {
  const { parts, view } = pass;
  const waiting: readonly UpgradeState[] = ['pending', 'retrying', 'deferred'];
  let did: Did = 'unchanged';
  for (const state of waiting) {
    const upgrades = await parts.store.listUpgrades(view.rollout.id, { offset: 0, limit: pageSize, state });
    for (const before of upgrades) {
      const change = changeOf(pass, before, { kind: 'withdrawn', at: parts.clock.now(), reason });
      if ((await parts.store.saveUpgrade(change, null)) !== 'saved') continue;
      for (const event of change.events) parts.sink.tell(event);
      did = 'changed';
    }
  }
  return did;
}

function changeOf({ parts, view }: Pass, before: Upgrade, fact: UpgradeFact) {
  const { rollout } = view;
  const context = {
    policy: rollout.policy,
    targetBuild: rollout.targetBuild,
    answerWithinMs: parts.answerWithinMs,
    jitter: 0,
  };
  const after = evolve(before, fact, context);
  return { before, after, events: describeUpgradeChange(rollout, before, after, fact) };
}

function nowOf({ parts }: Pass): EpochMs {
  return parts.clock.now();
}
