import { describe, expect, it } from 'vitest';
import { assessSoak } from '../../../../src/rollout/decision/soak.ts';
import { oldBuild, startedAt, targetBuild } from '../../../support/builders.ts';

const minute = 60_000;
const serviceAt = startedAt;

type Seen = Parameters<typeof assessSoak>[1];

const seen = (changes: Partial<Seen> = {}): Seen => ({
  build: targetBuild,
  alive: true,
  lastSeenAlive: serviceAt,
  ...changes,
});
const beatAgo = (ageMs: number) =>
  assessSoak(targetBuild, seen({ lastSeenAlive: serviceAt - ageMs }), serviceAt);

describe('an upgraded collector while its wave soaks', () => {
  it('has regressed when it runs another build, whatever else it shows', () => {
    for (const changes of [{}, { alive: false }, { lastSeenAlive: null }]) {
      expect(assessSoak(targetBuild, seen({ build: oldBuild, ...changes }), serviceAt)).toEqual({
        kind: 'regressed',
        lost: false,
        reason: { kind: 'leftBuild', build: oldBuild },
      });
    }
    expect(assessSoak(targetBuild, seen({ build: '' }), serviceAt)).toMatchObject({
      reason: { kind: 'leftBuild', build: '' },
    });
  });

  it('is lost when the service shows it as not alive', () => {
    expect(assessSoak(targetBuild, seen({ alive: false }), null)).toEqual({
      kind: 'regressed',
      lost: true,
      reason: { kind: 'died', silentMs: null },
    });
  });

  it('is silent after three missed heartbeats, and lost after five minutes, though it is shown as alive', () => {
    expect(beatAgo(45_000).kind).toBe('well');
    expect(beatAgo(45_001).kind).toBe('silent');
    expect(beatAgo(5 * minute).kind).toBe('silent');
    expect(beatAgo(5 * minute + 1)).toEqual({
      kind: 'regressed',
      lost: true,
      reason: { kind: 'died', silentMs: 300_001 },
    });
  });

  it.each([0, 20 * minute, -20 * minute])(
    'counts as silent when the answer has no service time, heartbeat %i ms old (P14)',
    (ageMs) => {
      expect(assessSoak(targetBuild, seen({ lastSeenAlive: serviceAt - ageMs }), null).kind).toBe('silent');
    },
  );

  it('counts as alive where the service sends no heartbeat', () => {
    expect(assessSoak(targetBuild, seen({ lastSeenAlive: undefined }), serviceAt).kind).toBe('well');
  });
});
