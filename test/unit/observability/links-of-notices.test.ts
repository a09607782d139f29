import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { httpMessage } from '../../../src/observability/notifications/http-messages.ts';
import { writeNotice } from '../../../src/observability/notifications/written-notice.ts';
import type { Notice } from '../../../src/rollout/model/notice.ts';
import { startedAt } from '../../support/builders.ts';

const origin = { installation: undefined, publicUrl: 'https://upwave.example.com' };
const guide = 'https://upwave.example.com/docs/alerts#UpwaveRolloutHeld';
const url = new Secret('https://receiver.example.com/');
const aNotice = (phase: 'raised' | 'over'): Notice => ({
  ...{ id: 'a', incident: 'a', phase, at: startedAt, policy: 'production', figures: null, commands: [] },
  details: { event: 'held', reason: 'too many failures', headline: 'held' },
});
const bodyFor = (place: Parameters<typeof httpMessage>[0], notice: Notice): unknown =>
  JSON.parse(httpMessage(place, writeNotice(notice, origin), startedAt).body);

describe('a message about an incident', () => {
  it('leads to the guide with what to do, for each kind of receiver', () => {
    const notice = aNotice('raised');
    expect(bodyFor({ kind: 'slack', url }, notice)).toMatchObject({
      text: expect.stringContaining(`<${guide}|What to do>`),
    });
    expect(bodyFor({ kind: 'teams', url }, notice)).toMatchObject({
      attachments: [{ content: { actions: [{}, { title: 'What to do', url: guide }] } }],
    });
    const pagerDuty = { kind: 'pagerDuty', url: 'https://events.example.com', routingKey: url } as const;
    expect(bodyFor(pagerDuty, notice)).toMatchObject({ links: [{}, { href: guide, text: 'What to do' }] });
    expect(bodyFor({ kind: 'webhook', url, secret: url }, notice)).toMatchObject({ guide });
  });

  it('has no such link when the incident is over, or no public address is known', () => {
    const place = { kind: 'webhook', url, secret: url } as const;
    expect(bodyFor(place, aNotice('over'))).toMatchObject({ guide: null });
    const nowhere = { installation: undefined, publicUrl: undefined };
    expect(
      JSON.parse(httpMessage(place, writeNotice(aNotice('raised'), nowhere), startedAt).body),
    ).toMatchObject({ link: null, guide: null });
  });
});

it('a message about a policy that waits for a start has a button for the dialog of the overview', () => {
  const start = { verb: 'start', subject: 'web & db' } as const;
  expect(writeNotice({ ...aNotice('raised'), actions: [start] }, origin).buttons).toEqual([
    {
      label: 'start web & db',
      href: 'https://upwave.example.com/#/?do=start&what=web+%26+db',
      isStopping: false,
    },
  ]);
  const nowhere = { installation: undefined, publicUrl: undefined };
  expect(writeNotice({ ...aNotice('raised'), actions: [start] }, nowhere).buttons).toEqual([]);
});

it('a webhook gets no target build of a rollback, which takes collectors back to many', () => {
  const figures = {
    ...{ rollout: 'production-20260302-2', targetBuild: '19.525-63', planned: 9, succeeded: 0, failed: 0 },
    ...{ inFlight: 1, remaining: 8, causes: [] },
  };
  const place = { kind: 'webhook', url, secret: url } as const;
  const targetOf = (kind: 'upgrade' | 'rollback') =>
    bodyFor(place, { ...aNotice('raised'), figures: { ...figures, kind } });
  expect(targetOf('rollback')).toMatchObject({ figures: { targetBuild: null, planned: 9 } });
  expect(targetOf('upgrade')).toMatchObject({ figures: { targetBuild: '19.525-63' } });
});
