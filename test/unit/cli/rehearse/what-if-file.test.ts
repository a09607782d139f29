import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readWhatIf, usualWhatIf } from '../../../../src/cli/rehearse/what-if-file.ts';
import { ConfigError } from '../../../../src/config/source/config-error.ts';
import { aWebhookGate } from '../../../support/builders/gate-builders.ts';
import { aPolicy, aWaveRule, startedAt } from '../../../support/builders.ts';
import { problemCases } from '../../../support/config-fixtures.ts';
import { aConfigFolder } from '../../../support/night/upwave-process.ts';

const policy = aPolicy({
  waves: [aWaveRule({ gates: [aWebhookGate({ name: 'go-live' })] })],
  timeZone: 'UTC',
});
const occasion = { policy, at: startedAt };
const at = (text: string) => Date.parse(`2026-03-03T${text}:00Z`);

describe('a what-if file', () => {
  it('is read as the example in config/ writes it, also with the gate that few policies have', () => {
    const example = 'config/what-if.yaml';
    const path = aConfigFolder(onTestFinished).write('whole.yaml', {});
    writeFileSync(path, readFileSync(example, 'utf8').replace('# gates:', 'gates:'));
    const withoutGates = readWhatIf(example, { ...occasion, policy: aPolicy() });
    expect({ ...withoutGates, gates: { 'go-live': 'hold' } }).toEqual(readWhatIf(path, occasion));
    expect(readWhatIf(path, occasion)).toEqual({
      breaks: [
        { match: { osName: ['Windows*'] }, share: 0.4, how: 'neverReturns', afterMs: 0 },
        { match: { fields: { rack: ['r7'] } }, share: 1, how: 'dies', afterMs: 4 * 3_600_000 },
      ],
      durationsFrom: { kind: 'file' },
      durations: { medianMs: 360_000, p95Ms: 1_200_000 },
      failures: { once: 0.03, always: 0.005 },
      disturbances: [
        { from: at('02:00'), to: at('03:00'), requestsPerSecond: 0 },
        { from: at('04:00'), to: at('04:30'), requestsPerSecond: 0.5 },
      ],
      gates: { 'go-live': 'hold' },
      upAgain: { share: 0.3, withinMs: 6 * 3_600_000 },
      installed: { count: 20, withinMs: 6 * 3_600_000 },
      approval: { kind: 'at', minute: 510, timeZone: 'UTC' },
    });
  });

  it('may be empty, and then has the same defaults as no file', (test) => {
    const path = aConfigFolder(test.onTestFinished).write('empty.yaml', {});
    const usual = usualWhatIf(occasion);
    expect(readWhatIf(path, occasion)).toEqual(usual);
    expect(usual.durations.medianMs).toBe(policy.upgrade.expectMs);
    expect(usual.durationsFrom).toEqual({ kind: 'expect' });
    expect(usual.breaks).toEqual([]);
  });

  it('overrides learned values', () => {
    const learned = {
      ...{ rolloutId: 'production-20260302-1', tookMs: new Map<number, number>() },
      durations: { medianMs: 1_000, p95Ms: 2_000 },
      failures: { once: 0.2, always: 0.1 },
    };
    const path = aConfigFolder(onTestFinished).write('some.yaml', { failures: { once: '7%' } });
    expect(readWhatIf(path, { ...occasion, learned })).toMatchObject({
      durations: learned.durations,
      durationsFrom: { kind: 'rollout', id: 'production-20260302-1' },
      failures: { once: 0.07, always: 0.1 },
    });
  });

  it.each(
    problemCases(`
brakes: [] → unknown key "brakes"; did you mean "breaks"?
breaks: [{ match: { osNam: Linux } }] → breaks[0].match.osNam: unknown key "osNam"; did you mean "osName"?
breaks: [{ how: dies }] → breaks[0].after: is missing; give how long after the upgrade a collector dies
breaks: [{ after: 4h }] → breaks[0].after: is for "how: dies" only
breaks: [{ share: 140% }] → breaks[0].share: "140%" is not a share; it must be a percentage from 0% to 100%, such as 3%
service: [{ from: 2 am, to: "03:00" }] → service[0].from: "2 am" is not a time of day
gates: { board: hold } → gates.board: policy production has no gate of this name; it has go-live
upAgain: { share: 30% } → upAgain.within: is missing
upAgain: { within: 3d } → upAgain.within: must be
installed: { within: 6h } → installed.count: is missing
installed: { count: 0, within: 6h } → installed.count: must be
approval: soon → approval: must be
`),
  )('is refused with the place of what is wrong: %s', (content, words) => {
    const path = aConfigFolder(onTestFinished).write('wrong.yaml', content);
    expect(() => readWhatIf(path, occasion)).toThrow(ConfigError);
    expect(() => readWhatIf(path, occasion)).toThrow(words);
  });
});
