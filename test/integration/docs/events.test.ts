import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { useNights } from '../../support/night/nights.ts';

const guide = readFileSync(new URL('../../../src/docs/guides/events.md', import.meta.url), 'utf8');
const fieldsOfAll = ['at', 'event', 'policy', 'rollout', 'reason', 'by'];

/** The entries of the guide by their names: what each may have in addition, and the level of its line. */
const entries = new Map(
  [...guide.matchAll(/^### `(\S+)`( in the log)?\n\n(.*)$/gm)].map(([, name = '', log = '', text = '']) => {
    const [, fields = ''] = / May also have (.*)\. Level/.exec(text) ?? [];
    const [, level] = / Level `(\w+)`\.$/.exec(text) ?? [];
    return [`${name}${log}`, { level, fields: [...fields.matchAll(/\w+/g)].map(([field]) => field) }];
  }),
);

const { aStartedNight } = useNights();

it('the guide to events has the events, fields and levels of a rollout that really ran', async (test) => {
  const { daemon, rolloutId, end } = await aStartedNight(test, {
    scenario: {
      fleet: { size: 20 },
      failures: [
        { match: { count: 1 }, outcome: 'failed', message: 'permission denied' },
        { match: { count: 4 }, attempts: [1], outcome: 'failed', message: 'connection reset by peer' },
        { outcome: 'succeeded' },
      ],
    },
    rollout: {
      waves: [
        { name: 'canary', size: 5, soak: '1s', maxFailures: 5 },
        { name: 'rest', maxFailures: 5 },
      ],
    },
  });
  await end();
  const events = (await daemon.operations.readEvents(rolloutId, 1_000)) ?? [];
  expect(new Set(events.map(({ event }) => event)).size).toBeGreaterThan(10);
  const undocumented = events.flatMap((event) => {
    const known = [...fieldsOfAll, ...(entries.get(event.event)?.fields ?? [])];
    const fields = Object.keys(event).filter((field) => !known.includes(field));
    return entries.has(event.event) && fields.length === 0 ? [] : [{ event: event.event, fields }];
  });
  expect(undocumented).toEqual([]);
  const levels = daemon.log.map(({ event, level }) => ({ event, level }));
  expect(levels.length).toBeGreaterThan(events.length);
  expect(levels.filter(({ event, level }) => entries.get(event)?.level !== level)).toEqual([]);
});
