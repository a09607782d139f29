import { describe, expect, it } from 'vitest';
import type { Outage } from '../../../src/contract/admin/rollout-status.ts';
import { redisReadiness, serviceReadiness } from '../../../src/daemon/readiness-checks.ts';
import { anApiBudgetStatus, anOutage } from '../../support/builders.ts';

const saying = (reason: string, ok = true) => ({ readiness: () => ({ ok, reason }) });
const standing = (changes: Partial<Outage>) => async () => anApiBudgetStatus({ outage: anOutage(changes) });

describe('the readiness of the service', () => {
  it('is what this daemon knows, while no request waits or Redis does not answer', async () => {
    const ours = { ok: true, reason: 'answers' };
    expect(await serviceReadiness(saying('answers'), async () => anApiBudgetStatus())).toEqual(ours);
    expect(await serviceReadiness(saying('answers'), null)).toEqual(ours);
    const failing = () => Promise.reject(new Error('no connection'));
    expect(await serviceReadiness(saying('answers'), failing)).toEqual(ours);
  });

  it('shows until when all requests wait, also by a daemon without a request', async () => {
    expect(await serviceReadiness(saying('not asked yet'), standing({}))).toEqual({
      ok: true,
      reason: 'not asked yet; all wait until 2026-03-03T00:00:00Z: the service asked for a pause',
    });
    const signIn = {
      kind: 'signInThrottled',
      reason: 'the service throttles sign-ins',
      until: null,
    } as const;
    expect(await serviceReadiness(saying('last answer: 401', false), standing(signIn))).toEqual({
      ok: false,
      reason: 'last answer: 401; one request tries for all: the service throttles sign-ins',
    });
  });

  it('is false while the service is down, also by a daemon without a request', async () => {
    const since = Date.parse('2026-03-02T20:00:00.500Z');
    const down = { kind: 'serviceDown', detail: 'getCollector: answered 503.', since } as const;
    expect(await serviceReadiness(saying('not asked yet'), standing(down))).toEqual({
      ok: false,
      kind: 'down',
      since,
      reason:
        'down since 2026-03-02T20:00:00Z: one request at a time tries it, next at 2026-03-03T00:00:00Z. getCollector: answered 503.',
    });
    expect(await serviceReadiness(saying('answers'), standing({ ...down, until: null }))).toMatchObject({
      ok: false,
      reason: expect.stringContaining('tries it, now. getCollector'),
    });
  });
});

describe('the readiness of Redis', () => {
  type Redis = Parameters<typeof redisReadiness>[0];
  const well = {
    place: 'redis://r',
    worker: { isReady: () => true },
    writes: { refusal: () => null },
    rights: { refused: () => [] },
    faults: { reason: () => null },
    since: { unwritable: 1, forbidden: 2, fault: 3 },
    unreachable: () => undefined,
  };
  const checked = (changes: object) => redisReadiness({ ...well, ...changes } as unknown as Redis);

  it('names what is wrong, and when it began', () => {
    expect(checked({})).toMatchObject({ ok: true });
    expect(checked({ writes: { refusal: () => 'OOM' } })).toMatchObject({ kind: 'unwritable', since: 1 });
    expect(checked({ rights: { refused: () => ['+get'] } })).toMatchObject({ kind: 'forbidden', since: 2 });
    expect(checked({ faults: { reason: () => 'the lease: WRONGTYPE' } })).toMatchObject({
      ...{ kind: 'fault', since: 3 },
      reason: 'redis://r answers with an error: the lease: WRONGTYPE',
    });
    const away = { worker: { isReady: () => false }, unreachable: () => ({ reason: 'closed', since: 4 }) };
    expect(checked(away)).toMatchObject({ kind: 'away', since: 4 });
  });
});
