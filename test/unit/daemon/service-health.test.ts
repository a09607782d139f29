import { describe, expect, it } from 'vitest';
import { keepChecking, makeServiceHealth } from '../../../src/daemon/service-health.ts';
import { quietParts } from '../../support/quiet-parts.ts';

type Said = number | string | { readonly down: string | undefined };

function healthAfter(...said: readonly Said[]) {
  const health = makeServiceHealth();
  for (const each of said) {
    if (typeof each === 'object') health.setDown(each.down);
    else health.answered(each);
  }
  return { ...health.readiness(), isFailing: health.isFailing() };
}

describe('the health of the service', () => {
  it.each<[string, readonly Said[], boolean, boolean]>([
    ['before the first request', [], true, false],
    ['after a good answer', [200], true, false],
    ['after a refusal that says nothing of us, such as a 404', [404], true, false],
    ['after one odd answer', [200, 502], true, true],
    ['after two of them with a good one in between', [200, 502, 200, 'timeout'], true, true],
    ['after two of them in a row', [200, 502, 'timeout'], false, true],
    ['once the key is refused twice', [200, 401, 403], false, true],
    ['when the very first answer is a fault: a wrong key, or no way there', [401], false, true],
    ['after a good answer again', [401, 503, 200], true, false],
    ['while all daemons say that it is down', [200, { down: 'answered 503' }], false, true],
    ['also after a good answer meanwhile', [{ down: 'answered 503' }, 200], false, true],
    [
      'once all daemons say that it is up again',
      [503, { down: 'answered 503' }, { down: undefined }],
      true,
      false,
    ],
  ])('is, %s, as the answers show', (_when, said, ok, isFailing) => {
    expect(healthAfter(...said)).toMatchObject({ ok, isFailing });
  });

  it('names the last answer, and how many were faults', () => {
    expect(healthAfter().reason).toBe('not asked yet');
    expect(healthAfter(200).reason).toBe('answers');
    expect(healthAfter(200, 502).reason).toBe('last answer: 502');
    expect(healthAfter(200, 502, 503, 'timeout').reason).toBe('last 3 answers were faults: timeout');
    expect(healthAfter({ down: 'answered 503' }).reason).toContain('answered 503');
  });
});

/** @param faults of each wait: whether the last answer was a fault. @returns the waits in seconds, `?` where it asked after it */
async function asked(faults: readonly boolean[]): Promise<string> {
  const stop = new AbortController();
  const log: string[] = [];
  const left = [...faults];
  await keepChecking(
    {
      ...quietParts,
      access: { isFailing: () => left.shift() ?? false },
      fleet: {
        listBuilds: async () => {
          log.push('?');
          return { ok: true, value: [] };
        },
      },
      sleep: async (forMs) => {
        if (left.length === 0) stop.abort();
        else log.push(String(forMs / 1_000));
      },
    },
    stop.signal,
  );
  return log.join(' ');
}

it('asks a service again while its last answer was a fault, more and more seldom, and never otherwise', async () => {
  expect(await asked([false, false])).toBe('30 30');
  expect(await asked([true, false, true])).toBe('30 ? 60 30 ?');
  expect(await asked([true, true, true, true, true, true])).toBe('30 ? 60 ? 120 ? 240 ? 300 ? 300 ?');
});
