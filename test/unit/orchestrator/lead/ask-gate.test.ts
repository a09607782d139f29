import { describe, expect, it } from 'vitest';
import { askGate } from '../../../../src/orchestrator/lead/ask-gate.ts';
import type { GateProbe } from '../../../../src/orchestrator/ports/gate-probe.ts';
import {
  assessGate,
  type GateAnswer,
  type MessageCounts,
} from '../../../../src/rollout/decision/assess-gate.ts';
import { aDataFlowGate, aStatus, aWebhookGate } from '../../../support/builders/gate-builders.ts';
import {
  aCollector,
  anUpgrade,
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  startedAt,
} from '../../../support/builders.ts';
import { aHouse, over } from '../../../support/house.ts';

const hour = 3_600_000;
const names = ['web-1', 'web-2', 'web-3'];

/**
 * A wave of three that soaked, each of which delivered 100 messages before.
 * @param after what they deliver by now, by the names under which it comes
 * @param delivering the names under which they delivered before
 * @param inventory their names by now; undefined: the service does not answer
 */
async function aMeasuredWave(
  after: Record<string, number>,
  inventory: readonly string[] | undefined,
  delivering: readonly string[] = names,
) {
  const gate = aDataFlowGate({ atLeast: 0.5 });
  const upgrades = names.map((collectorName, index) =>
    anUpgrade(
      { ...over('succeeded'), endedAt: startedAt - hour },
      { collectorId: index + 1, collectorName, order: index + 1, firstStartedAt: startedAt - 2 * hour },
    ),
  );
  const rollout = aRollout({
    policy: aPolicy({ waves: [aWaveRule({ gates: [gate] })] }),
    waves: [aWave({ size: 3, state: 'soaking', soakEndsAt: startedAt, gates: [aStatus()] })],
  });
  const collectors = inventory?.map((name, index) => aCollector({ id: index + 1, name }));
  const { parts, store, now } = await aHouse({
    ...{ rollout, upgrades },
    fleet: {
      readInventory: async () =>
        collectors === undefined
          ? { ok: false, failure: { kind: 'unavailable', sent: true, detail: 'HTTP 503' } }
          : { ok: true, value: { readAt: startedAt, serviceAt: startedAt, collectors } },
    },
  });
  const asked: (readonly string[])[] = [];
  const ask: GateProbe['ask'] = async ({ flow }) => {
    asked.push(flow?.names ?? []);
    const of = (counts: Readonly<Record<string, number>>): MessageCounts =>
      new Map(Object.entries(counts).filter(([name]) => flow?.names.includes(name) === true));
    const before = of(Object.fromEntries(delivering.map((name) => [name, 100])));
    return { kind: 'counts', before, after: of(after), detail: '' };
  };
  const view = aView({ rollout, waves: [aSummary({ succeeded: 3 })] });
  await askGate({ ...parts, gates: { ask } }, view, { wave: 0, gate: 0 }, new AbortController().signal);
  const all = await store.listUpgrades(rollout.id, { offset: 0, limit: 10 });
  return {
    asked,
    answers: (await now()).waves[0]?.gates[0],
    lost: all.flatMap(({ identity, progress }) =>
      progress.state === 'succeeded' ? [] : [identity.collectorName],
    ),
  };
}

describe('a collector whose messages are missing', () => {
  it('counts as silent when it still has its planned name', async () => {
    const { lost, answers } = await aMeasuredWave({ 'web-1': 100, 'web-2': 100 }, names);
    expect([lost, answers?.verdict]).toEqual([['web-3'], 'met']);
  });

  it('is searched for by its new name when it was renamed, and does not count as silent', async () => {
    const { lost, answers, asked } = await aMeasuredWave({ 'web-1': 100, 'web-2': 100, 'db-3': 40 }, [
      'web-1',
      'web-2',
      'db-3',
    ]);
    expect(lost).toEqual([]);
    expect(answers?.value).toBeCloseTo(0.8);
    expect(asked.at(-1)).toEqual(['web-1', 'web-2', 'web-3', 'db-3']);
  });

  it.each([
    ['the inventory cannot be read', undefined, 'HTTP 503'],
    ['the inventory lacks it', ['web-1', 'web-2'], 'the inventory lacks web-3'],
  ])('is no evidence of a failure while %s (P14)', async (_case, inventory, detail) => {
    const { lost, answers } = await aMeasuredWave({ 'web-1': 100, 'web-2': 100 }, inventory);
    expect(lost).toEqual([]);
    expect(answers).toMatchObject({ verdict: 'error', detail: expect.stringContaining(detail) });
  });

  it('counts as silent when it was renamed before its upgrade, and delivered under its new name', async () => {
    const renamed = ['web-1', 'web-2', 'db-3'];
    const { lost, asked } = await aMeasuredWave({ 'web-1': 100, 'web-2': 100 }, renamed, renamed);
    expect(lost).toEqual(['web-3']);
    expect(asked.at(-1)).toContain('db-3');
  });

  it('is no failure when it was quiet before and is gone', async () => {
    const present = ['web-1', 'web-2'];
    const { lost, answers } = await aMeasuredWave({ 'web-1': 100, 'web-2': 100 }, present, present);
    expect([lost, answers?.verdict]).toEqual([[], 'met']);
  });

  it('is not searched for while the wave delivers enough messages', async () => {
    const { asked, answers } = await aMeasuredWave({ 'web-1': 100, 'web-2': 100, 'web-3': 1 }, undefined);
    expect([asked.length, answers?.verdict]).toEqual([1, 'met']);
  });
});

describe('a gate that is asked twice from one view', () => {
  it('does not pass while its later answer is an error (P14)', async () => {
    const gate = aWebhookGate();
    const rollout = aRollout({
      policy: aPolicy({ waves: [aWaveRule({ gates: [gate] })] }),
      waves: [aWave({ size: 1, state: 'soaking', soakEndsAt: startedAt, gates: [aStatus()] })],
    });
    const { parts, clock, now } = await aHouse({ rollout });
    const given: GateAnswer[] = [
      { kind: 'verdict', verdict: 'pass', detail: '' },
      { kind: 'error', detail: 'connection refused' },
    ];
    const ask = async () => given.shift() ?? { kind: 'error' as const, detail: '' };
    const view = aView({ rollout, waves: [aSummary({ succeeded: 1 })] });
    const askOnce = () =>
      askGate({ ...parts, gates: { ask } }, view, { wave: 0, gate: 0 }, new AbortController().signal);
    await askOnce();
    clock.at += 1;
    await askOnce();
    const answers = (await now()).waves[0]?.gates[0];
    expect(answers === undefined ? undefined : assessGate(gate, answers, clock.at).verdict).toBe('waiting');
  });
});
