import { describe, expect, it } from 'vitest';
import { askDataFlow, verdictOnDataFlow } from '../../../../src/rollout/decision/data-flow.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { aDataFlowGate } from '../../../support/builders/gate-builders.ts';
import { anUpgrade, startedAt as t } from '../../../support/builders.ts';
import { over } from '../../../support/house.ts';

const minute = 60_000;
const hour = 60 * minute;
const rule = aDataFlowGate({ windowMs: 10 * minute, comparedToMs: 24 * hour });

/** Upgraded at this instant, after five minutes. */
const upgraded = (collectorName: string, endedAt = t): Upgrade =>
  anUpgrade({ ...over('succeeded'), endedAt }, { collectorName, firstStartedAt: endedAt - 5 * minute });

describe('the periods that a gate compares the data flow of', () => {
  it('end with the latest searchable messages, and a day before', () => {
    const question = askDataFlow(rule, [upgraded('a'), upgraded('b')], t + hour);
    const after = { from: t + 49 * minute, to: t + 59 * minute };
    const before = { from: after.from - 24 * hour, to: after.to - 24 * hour };
    expect(question).toEqual({ names: ['a', 'b'], after, before });
  });

  it('start after the last upgrade, also when the soak was skipped', () => {
    const question = askDataFlow(rule, [upgraded('a'), upgraded('b', t + 55 * minute)], t + hour);
    expect(question).toMatchObject({ after: { from: t + 55 * minute, to: t + 59 * minute } });
  });

  it('go back as many days as the wave lasts, because the day before may already be on the new build', () => {
    const now = t + 50 * hour;
    expect(askDataFlow(rule, [upgraded('a')], now)).toMatchObject({
      before: { to: now - minute - 72 * hour },
    });
  });

  it.each([
    ['nobody was upgraded', []],
    ['the last upgrade has just ended', [upgraded('a', t + 59 * minute)]],
  ])('do not exist while %s', (_case, upgrades) => {
    expect(askDataFlow(rule, upgrades, t + hour)).toHaveProperty('detail');
  });
});

describe('the judgement of a data flow (P14)', () => {
  const [a, b, c] = [upgraded('a'), upgraded('b'), upgraded('c')];
  const counts = (of: Readonly<Record<string, number>>) => new Map(Object.entries(of));

  it('is the share of the earlier messages, for collectors that delivered enough to compare', () => {
    const before = counts({ a: 100, b: 300, c: 9 });
    const { answer, silent } = verdictOnDataFlow([a, b, c], {
      before,
      after: counts({ a: 50, b: 250, c: 900 }),
    });
    expect(answer).toMatchObject({ kind: 'value', value: 0.75 });
    expect(silent).toEqual([]);
  });

  it('names collectors that delivered before and deliver nothing now', () => {
    const { silent } = verdictOnDataFlow([a, b, c], {
      before: counts({ a: 10, b: 10, c: 9 }),
      after: counts({ b: 1 }),
    });
    expect(silent).toEqual([{ upgrade: a, before: 10 }]);
  });

  it('is an error when no collector delivered enough before', () => {
    const { answer, silent } = verdictOnDataFlow([a, b], { before: counts({ a: 9 }), after: counts({}) });
    expect([answer.kind, silent]).toEqual(['error', []]);
  });
});
