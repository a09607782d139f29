import { describe, expect, it } from 'vitest';
import { parseScenario, ScenarioError } from '../../../../src/reference-service/scenario/scenario.ts';
import { makeScaledClock } from '../../../../src/reference-service/server/start-reference-service.ts';
import { aStatusClock } from '../../../support/reference-client.ts';

describe('parseScenario', () => {
  it('fills every default, for nothing at all too', () => {
    expect(parseScenario(undefined)).toEqual(parseScenario({}));
    const scenario = parseScenario({});
    expect(scenario.limits).toMatchObject({
      requestsPerSecond: 4,
      concurrentRequests: 10,
      taskTimeout: 1_800_000,
    });
    expect(scenario.builds.at(-1)).toMatchObject({ version: '19.536-4', offered: true });
  });

  it('takes a build as a text', () => {
    expect(parseScenario({ builds: ['19.1-1'] }).builds).toEqual([
      { version: '19.1-1', offered: true, latest: false, offeredAfter: 0 },
    ]);
  });

  it('names every mistake with its path', () => {
    const parse = () =>
      parseScenario({
        fleet: { sise: 3 },
        durations: { median: 'soon' },
        failures: [{ outcome: 'explodes' }],
        httpFaults: [{ share: 1, fault: '503', operations: ['listColectors'] }],
      });
    expect(parse).toThrow(ScenarioError);
    expect(parse).toThrow(/fleet: .*sise/);
    expect(parse).toThrow(/durations\.median: "soon" is not a duration/);
    expect(parse).toThrow(/failures\.0\.outcome/);
    expect(parse).toThrow(/httpFaults\.0\.operations\.0/);
  });

  it('refuses what contradicts itself', () => {
    expect(() => parseScenario({ durations: { median: '20m', p95: '10m' } })).toThrow(/durations/);
    expect(() => parseScenario({ failures: [{ outcome: 'createCode' }] })).toThrow(/failures\.0\.code/);
    expect(() => parseScenario({ builds: [{ version: '19.1-1', offered: false }] })).toThrow(
      /none is available/,
    );
  });
});

describe('makeScaledClock', () => {
  it('runs so many times as fast from its anchor on', () => {
    const realClock = aStatusClock(1_000);
    const clock = makeScaledClock({ realClock, speed: 100, anchor: 5_000_000 });
    expect(clock.now()).toBe(5_000_000);
    realClock.advance(250);
    expect(clock.now()).toBe(5_025_000);
  });
});
