import { describe, expect, it } from 'vitest';
import { replacedCalendars } from '../../../../src/rollout/calendar/replaced-calendars.ts';
import type { ReplacedCalendar } from '../../../../src/rollout/model/rollout.ts';
import { aPolicy, aWaveRule, startedAt } from '../../../support/builders.ts';

const freezes = [{ from: '2026-03-02T20:00', to: '2026-03-03T06:00', timeZone: 'UTC', reason: 'audit' }];
const windows = [{ days: [1], fromMinute: 60, toMinute: 120, timeZone: 'UTC' }];
const config = (replaced?: readonly ReplacedCalendar[]) => {
  return { generation: 1, changes: 0, ...(replaced && { replacedCalendars: replaced }) };
};

describe('the calendars that reloads replaced', () => {
  it('have windows and freezes, those of the waves, and the end', () => {
    const waves = [aWaveRule({ windows }), aWaveRule({ notBefore: '2026-03-03T01:00' }), aWaveRule()];
    const policy = aPolicy({ freezes, waves });
    expect(replacedCalendars({ policy, config: config() }, aPolicy({ waves }), startedAt)).toEqual([
      {
        ...{ windows: [], freezes, timeZone: policy.timeZone, until: startedAt },
        waves: [{ windows }, { notBefore: '2026-03-03T01:00' }, {}],
      },
    ]);
  });

  it('stay the same with a reload of other limits', () => {
    const policy = aPolicy({ freezes });
    const [first] = replacedCalendars({ policy, config: config() }, aPolicy(), startedAt);
    const replaced = first === undefined ? [] : [first];
    expect(replacedCalendars({ policy, config: config() }, { ...policy, concurrency: 2 }, 0)).toEqual([]);
    expect(
      replacedCalendars({ policy, config: config(replaced) }, { ...policy, concurrency: 2 }, startedAt + 1),
    ).toEqual(replaced);
  });

  it('are the newest 20', () => {
    let replaced: readonly ReplacedCalendar[] = [];
    for (let change = 0; change < 25; change += 1) {
      const [before, present] = [aPolicy({ freezes }), aPolicy()];
      replaced = replacedCalendars({ policy: before, config: config(replaced) }, present, startedAt + change);
    }
    expect([replaced.length, replaced[0]?.until]).toEqual([20, startedAt + 5]);
  });
});
