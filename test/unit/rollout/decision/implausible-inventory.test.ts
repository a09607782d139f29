import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import { judgeInventoryReading } from '../../../../src/rollout/decision/implausible-inventory.ts';
import {
  type InventoryCount,
  implausibleHoldAfterMs,
} from '../../../../src/rollout/model/assess-inventory.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import { aRollout, askedFor, aView, aWave, startedAt as t } from '../../../support/builders.ts';
import { afterAction, resumed } from '../../../support/view-cases.ts';

const minutes = 60_000;
const baseline = { at: t, size: 120, missing: 0 };

function reading(rows: number, readAt = t + minutes): InventoryCount {
  const missing = 120 - rows;
  return { readAt, rows, size: rows, members: 120, missing, missingUnexplained: missing, transient: 0 };
}

/** The rollout after this reading. */
function afterReading(rollout: Rollout, seen: InventoryCount, at = seen.readAt): Rollout {
  const fact = judgeInventoryReading(rollout, seen, at);
  return fact === undefined ? rollout : evolveRollout(rollout, fact);
}

const running = aRollout({ inventory: { baseline }, waves: [aWave({ size: 120 })] });
const waiting = afterReading(running, reading(60));

const heldAt = t + minutes + implausibleHoldAfterMs;

/** Held for the inventory itself, so that a person has read what resuming it means. */
function afterHold(rollout: Rollout): Rollout {
  const view = aView({ rollout, braked: true });
  const [action] = decide(view, heldAt).actions;
  const held = action && afterAction(view, action, heldAt)?.rollout;
  if (held?.state !== 'held') throw new Error('it is not held');
  return held;
}

const resume = (rollout: Rollout, at: number) => resumed(aView({ rollout }), at).rollout;

const candidates = [{ lane: 0, retries: [], pending: [{ collectorId: 1, order: 1 }] }];

describe('a rollout with an implausible inventory (P14)', () => {
  it('starts nothing, passes no wave, shows why and since when, and reads the inventory again', () => {
    const { actions, blockers, wakeAt } = decide(aView({ rollout: waiting, candidates }), t + 3 * minutes);
    expect(actions.map((action) => action.do)).toEqual(['setBrake', 'checkInventory']);
    expect(blockers).toEqual([
      {
        kind: 'inventory',
        why: { kind: 'manyGone', missing: 60, members: 120 },
        lastsMs: 2 * minutes,
        heldAfterMs: implausibleHoldAfterMs,
        until: null,
      },
    ]);
    expect(wakeAt).toBe(t + minutes + implausibleHoldAfterMs);
  });

  it('continues with the next plausible reading, and keeps its baseline', () => {
    const trusted = afterReading(waiting, reading(119, t + 2 * minutes));
    expect(trusted.inventory).toEqual({
      baseline: { ...baseline, trustedAt: t + 2 * minutes },
      implausible: null,
    });
    const view = aView({ rollout: trusted, candidates, braked: true });
    const dos = decide(view, t + 2 * minutes).actions.map((action) => action.do);
    expect(dos).toEqual(['liftBrake', 'admit']);
  });

  it('does not accept a reading that began before the last implausible one', () => {
    expect(judgeInventoryReading(waiting, reading(120, t + minutes - 1), t + 2 * minutes)).toBeUndefined();
  });

  it('ignores an implausible reading that began before the last plausible one', () => {
    const trusted = afterReading(waiting, reading(120, t + 2 * minutes));
    const late = (readAt: number) => judgeInventoryReading(trusted, reading(0, readAt), t + 3 * minutes);
    expect(late(t + 2 * minutes - 1)).toBeUndefined();
    expect(late(t + 2 * minutes + 1)?.kind).toBe('inventoryImplausible');
  });

  it('does not continue by time alone, although more collectors may be missing after a longer time', () => {
    const few = afterReading(running, reading(115));
    expect(few.inventory.implausible).not.toBeNull();
    const at = t + 12 * 60 * minutes;
    expect(judgeInventoryReading(few, reading(115, at), at)).toBeUndefined();
    expect(judgeInventoryReading(running, reading(115, at), at)?.kind).toBe('inventoryTrusted');
  });

  it('keeps its start while the figures change, and writes nothing while they stay the same', () => {
    expect(judgeInventoryReading(waiting, reading(60, t + 2 * minutes), t + 2 * minutes)).toBeUndefined();
    expect(afterReading(waiting, reading(0, t + 5 * minutes)).inventory.implausible).toMatchObject({
      since: t + minutes,
      why: { kind: 'empty', expected: 120 },
    });
  });

  it('reads the inventory while it is held, too', () => {
    const { actions, blockers } = decide(aView({ rollout: { ...waiting, state: 'held' } }), t + 40 * minutes);
    expect(actions).toEqual([{ do: 'checkInventory' }]);
    // Not "held after 30m": it is held or paused already.
    expect(blockers[1]).toMatchObject({ kind: 'inventory', lastsMs: 39 * minutes, heldAfterMs: null });
  });

  it('accepts the inventory as the whole fleet when an operator resumes after the hold', () => {
    const after = resume(afterHold(waiting), heldAt);
    expect(after).toMatchObject({
      state: 'running',
      inventory: { baseline: { size: 60, missing: 60 }, implausible: null },
    });
    expect(judgeInventoryReading(after, reading(59, heldAt + 1), heldAt + 1)).toBeUndefined();
    expect(judgeInventoryReading(after, reading(30, heldAt + 1), heldAt + 1)?.kind).toBe(
      'inventoryImplausible',
    );
  });

  it('never accepts an empty inventory, and waits again', () => {
    const after = resume(afterHold(afterReading(running, reading(0))), heldAt);
    expect(after).toMatchObject({
      inventory: { baseline, implausible: { since: heldAt, why: { kind: 'empty' } } },
    });
  });

  it.each(['paused', 'held'] as const)(
    'that was %s for another reason does not accept the inventory by a resume',
    (state) => {
      const at = t + 8 * 60 * minutes;
      const after = resume({ ...waiting, state, reason: askedFor('by alice: lunch') }, at);
      expect(after).toMatchObject({ state: 'running', inventory: { baseline, implausible: { since: at } } });
    },
  );

  it('that is rolled back after a pause waits the full time again', () => {
    const paused = { ...waiting, state: 'paused' } as const;
    const at = t + 8 * 60 * minutes;
    const rolling = evolveRollout(paused, { kind: 'rollbackAsked', at, reason: askedFor('') });
    expect(rolling.inventory.implausible).toMatchObject({ since: at });
    const held = evolveRollout(afterHold(waiting), { kind: 'rollbackAsked', at, reason: askedFor('') });
    expect(held.inventory.implausible).toMatchObject({ since: t + minutes });
  });

  it('forgets the implausible reading once it is aborted', () => {
    const aborted = { kind: 'aborted', at: t + 2 * minutes, reason: askedFor('') } as const;
    expect(evolveRollout(waiting, aborted).inventory.implausible).toBeNull();
  });

  it('shows a blocker while it rolls back, and plans the rollback again', () => {
    const rollingBack = { ...afterReading(running, reading(0)), state: 'rollingBack' } as const;
    const { actions, blockers } = decide(aView({ rollout: rollingBack, waves: [] }), t + 2 * minutes);
    expect(actions).toEqual([{ do: 'beginRollback' }]);
    expect(blockers).toEqual([{ kind: 'rollbackPlan', why: { kind: 'empty', expected: 120 }, until: null }]);
  });

  it('shows when the rollback continues without the collectors that the inventory lacks', () => {
    const rollingBack = { ...afterReading(running, reading(20)), state: 'rollingBack' } as const;
    const { blockers } = decide(aView({ rollout: rollingBack, waves: [] }), t + 2 * minutes);
    const since = rollingBack.inventory.implausible?.since ?? 0;
    expect(blockers).toMatchObject([{ kind: 'rollbackPlan', until: since + 30 * minutes }]);
  });

  it('does not judge the inventory once it has ended, or while it waits for approval', () => {
    for (const state of ['aborted', 'awaitingApproval'] as const)
      expect(judgeInventoryReading({ ...running, state }, reading(0), t)).toBeUndefined();
  });
});
