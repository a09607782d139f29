import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slackMessage } from '../../../src/observability/notifications/slack-message.ts';
import { teamsCard } from '../../../src/observability/notifications/teams-card.ts';
import { writeNotice } from '../../../src/observability/notifications/written-notice.ts';
import { dueOfRollout } from '../../../src/rollout/notices/due-notices.ts';
import { startedAt } from '../../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../support/fake-operations.ts';
import { aCause, aHeldStratum, strataHolding } from '../../support/status-parts.ts';

const publicUrl = 'https://upwave.example.com';
const at = { now: startedAt, since: startedAt, gracePeriodMs: 3_600_000 };

/** The last notice that a status leads to, as text. */
function writtenOf(changes: Parameters<typeof aRolloutStatus>[0], origin = { publicUrl }) {
  const notice = dueOfRollout(undefined, aRolloutStatus(changes), at).notices.at(-1);
  if (notice === undefined) return expect.unreachable('a notice is due');
  return writeNotice(notice, { installation: undefined, ...origin });
}

const causes = (text: string, number = 4) => [
  {
    ...({ of: 'failed', total: 9, others: { count: 9 - number, causes: 1, unread: 0 } } as const),
    causes: Array.from({ length: number }, (_, index) => aCause({ text: `${text}${index}`, count: 1 })),
  },
];
const held = {
  ...({ state: 'held', hold: 7, reason: 'wave canary: 3 failures, 2 allowed', planned: 20 } as const),
  counts: countsOf({ succeeded: 8, failed: 9, upgrading: 2, pending: 1 }),
  inFlight: 2,
  causes: causes('disk is full '),
  verbs: ['resume', 'abort', 'rollback'] as const,
};
const buildHold = { build: '19.536-4', reason: 'staging failed', by: 'daemon', at: startedAt };

interface Button {
  readonly text: { readonly text: string };
  readonly url: string;
  readonly style?: string;
}
interface SlackBlock {
  readonly type: string;
  readonly text?: { readonly text: string };
  readonly fields?: ReadonlyArray<{ readonly text: string }>;
  readonly elements?: readonly Button[];
}
interface SlackBody {
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
  readonly attachments?: ReadonlyArray<{ readonly color: string; readonly blocks: readonly SlackBlock[] }>;
}
const slackOf = (...of: Parameters<typeof writtenOf>) => slackMessage(writtenOf(...of)) as SlackBody;
const blocksOf = ({ blocks, attachments = [] }: SlackBody) => [
  ...blocks,
  ...attachments.flatMap((each) => each.blocks),
];
const buttonsOf = (body: SlackBody) => blocksOf(body).flatMap(({ elements = [] }) => elements);

interface TeamsBody {
  readonly attachments: ReadonlyArray<{
    readonly content: {
      readonly body: ReadonlyArray<{
        readonly type: string;
        readonly style?: string;
        readonly inlines?: ReadonlyArray<{ readonly text: string; readonly fontType?: string }>;
      }>;
      readonly actions: ReadonlyArray<{ readonly title: string; readonly url: string }>;
    };
  }>;
}
const teamsOf = (...of: Parameters<typeof writtenOf>) => {
  const [card] = (teamsCard(writtenOf(...of)) as TeamsBody).attachments;
  return card?.content ?? expect.unreachable('it has a card');
};
const page = `${publicUrl}/#/rollouts/production-20260302-1`;

describe('a message in Slack', () => {
  it('has the headline, and in the colour of its severity the cause, four figures and the causes with counts', () => {
    const body = slackOf(held);
    expect(body.blocks[0]?.text?.text).toBe('*production: held*');
    expect(body.attachments?.[0]?.color).toBe('#b3261e');
    const texts = blocksOf(body).flatMap(({ text, fields = [] }) =>
      [text, ...fields].map((each) => each?.text),
    );
    expect(texts).toEqual([
      '*production: held*',
      'wave canary: 3 failures, 2 allowed',
      'To build 19.536-4',
      '*Succeeded*\n8 of 20',
      '*Failed*\n9',
      '*In flight*\n2',
      '*To do*\n1',
      '• 1 failed: disk is full 0\n• 1 failed: disk is full 1\n• 1 failed: disk is full 2\n• … 6 more failed',
      '`upwave resume production --hold 7`\n`upwave abort production`\n`upwave rollback production`',
      undefined,
    ]);
  });

  it('has a figure for those withdrawn and those rolled back, where there are any', () => {
    const counts = countsOf({ succeeded: 5, failed: 9, withdrawn: 2, rolledBack: 4 });
    const fields = blocksOf(slackOf({ ...held, inFlight: 0, counts })).flatMap((each) => each.fields ?? []);
    expect(fields.map(({ text }) => text)).toEqual([
      ...['*Succeeded*\n5 of 20', '*Failed*\n9', '*Withdrawn*\n2', '*Rolled back*\n4'],
      ...['*In flight*\n0', '*To do*\n0'],
    ]);
  });

  it('has a button for the page, for the dialog of each verb that is advised, and for the guide', () => {
    expect(buttonsOf(slackOf(held)).map(({ text, url, style }) => [text.text, url, style])).toEqual([
      ['Open the page', page, undefined],
      ['resume', `${page}?do=resume`, undefined],
      ['abort', `${page}?do=abort`, 'danger'],
      ['roll back', `${page}?do=rollback`, 'danger'],
      ['What to do', `${publicUrl}/docs/alerts#UpwaveRolloutHeld`, undefined],
    ]);
    const nowhere = { installation: undefined, publicUrl: undefined };
    expect(buttonsOf(slackMessage(writeNotice(writtenOf(held).notice, nowhere)) as SlackBody)).toEqual([]);
  });

  it('offers to release a held build before the verb that only then is possible', () => {
    const verbs = ['abort'] as const;
    expect(writtenOf({ ...held, verbs, buildHold })).toMatchObject({
      commands: ['upwave release 19.536-4', 'upwave resume production --hold 7', 'upwave abort production'],
      buttons: [
        { label: 'release 19.536-4', href: `${page}?do=release&what=19.536-4` },
        { label: 'resume' },
        { label: 'abort' },
      ],
    });
    const plan = writtenOf({ state: 'awaitingApproval', verbs, buildHold });
    expect(plan.buttons.map(({ label }) => label)).toEqual(['release 19.536-4', 'approve', 'abort']);
    const free = writtenOf({ state: 'awaitingApproval', verbs: ['approve', 'abort'] });
    expect(free.buttons.map(({ label }) => label)).toEqual(['approve', 'abort']);
  });

  it('offers to hold the group that explains the failures, and to release a held stratum', () => {
    const failures = { failed: 8, tried: 9 };
    const sharedAttribute = {
      attributes: [{ key: 'os', value: 'Windows 2016' }],
      ...{ ...failures, elsewhere: { failed: 1, tried: 99 }, share: 0.1 },
    };
    expect(writtenOf({ ...held, sharedAttribute }).buttons[0]).toMatchObject({
      label: 'hold os=Windows 2016',
      href: `${page}?do=hold&what=os%3DWindows+2016`,
    });
    const strata = strataHolding(aHeldStratum({ by: 'daemon', label: 'AIX' }));
    expect(writtenOf({ strata }).buttons).toMatchObject([{ label: 'release AIX' }]);
  });

  it('offers to release the strata that a rollout waits for, the first of many', () => {
    const labels = ['Linux / amd64', 'AIX', 'HP-UX', 'Solaris'];
    const of = (count: number) => ({
      ...held,
      reasonKind: 'onlyHeldStrata' as const,
      ...{ counts: countsOf({ succeeded: 8, pending: 12 }), waves: [aWaveStatus({ setAside: 12 })] },
      strata: strataHolding(...labels.slice(0, count).map((label) => aHeldStratum({ by: 'ann', label }))),
    });
    expect(writtenOf(of(2)).commands.slice(0, 3)).toEqual([
      'upwave resume production --hold 7',
      'upwave release "Linux / amd64"',
      'upwave release AIX',
    ]);
    expect(writtenOf(of(4)).commands.slice(3, 5)).toEqual(['upwave release HP-UX', 'upwave holds']);
    const strata = strataHolding(
      aHeldStratum({ by: 'ann', label: 'AIX', failed: 2 }),
      aHeldStratum({ by: 'ann', label: 'HP-UX' }),
    );
    const either = writtenOf({ ...of(2), strata });
    expect(either.commands).toEqual([
      'upwave resume production --hold 7',
      'upwave release AIX',
      'upwave release HP-UX',
      ...['upwave abort production', 'upwave rollback production'],
    ]);
    expect(either.buttons.slice(0, 2).map(({ label }) => label)).toEqual(['resume', 'release AIX']);
    expect(writtenOf({ ...of(1), reasonKind: 'failures' }).commands[0]).toMatch(/resume/);
    expect(writtenOf({ ...of(1), waves: [aWaveStatus({ setAside: 5 })] }).commands[0]).toMatch(/resume/);
  });

  it('shows names and reasons from outside as they are: no mention, no link', () => {
    const body = slackOf({ ...held, reason: '<!channel> & <https://evil.example.com|resume>' });
    const text = '&lt;!channel&gt; &amp; &lt;https://evil.example.com|resume&gt;';
    expect(body.text).toContain(text);
    expect(blocksOf(body)[1]).toMatchObject({ text: { text, type: 'mrkdwn', verbatim: true } });
  });

  it('is green once the incident is over, and amber at an end with failures', () => {
    const before = dueOfRollout(undefined, aRolloutStatus(held), at);
    const [over] = dueOfRollout(before.announced, aRolloutStatus({ reason: 'by ann' }), {
      ...at,
      now: startedAt + 60_000,
    }).notices;
    if (over === undefined) return expect.unreachable('the end is due');
    const written = writeNotice(over, { installation: undefined, publicUrl });
    expect(slackMessage(written)).toMatchObject({
      attachments: [{ color: '#176b3a', blocks: [{ text: { text: written.cause } }, {}, {}] }],
    });
    expect(written).toMatchObject({
      title: 'production: no longer held',
      cause: 'By ann. About "held" of 2026-03-02 21:00 UTC.',
      buttons: [],
    });
    const endedAs = (state: 'finishedWithFailures' | 'succeeded' | 'superseded') =>
      slackOf({ state, endedAt: startedAt }).attachments?.[0]?.color;
    expect(endedAs('finishedWithFailures')).toBe('#855600');
    expect(endedAs('succeeded')).toBe('#176b3a');
    expect(endedAs('superseded')).toBe('#1769b5');
  });
});

describe('a message in Teams', () => {
  it('has the headline in colour, the figures as facts, and the buttons', () => {
    const { body, actions } = teamsOf(held);
    expect(body[0]).toMatchObject({
      ...{ type: 'Container', style: 'attention' },
      items: [{ inlines: [{ text: 'production: held' }] }],
    });
    expect(body.find(({ type }) => type === 'FactSet')).toEqual({
      type: 'FactSet',
      facts: [
        { title: 'Succeeded', value: '8 of 20' },
        { title: 'Failed', value: '9' },
        { title: 'In flight', value: '2' },
        { title: 'To do', value: '1' },
      ],
    });
    expect(JSON.stringify(body)).toContain('… 6 more failed');
    expect(actions.map(({ title, url }) => [title, url])).toEqual([
      ['Open the page', page],
      ['resume', `${page}?do=resume`],
      ['abort', `${page}?do=abort`],
      ['roll back', `${page}?do=rollback`],
      ['What to do', `${publicUrl}/docs/alerts#UpwaveRolloutHeld`],
    ]);
  });
});

/** Names of any length and of any characters, also of those that escaping makes longer. */
const anyText = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3_000 }),
  fc
    .constantFrom('&', '<', '"', '`', '\\', '日', '👩‍🚀', 'x')
    .chain((unit) => fc.integer({ min: 1, max: 6_000 }).map((count) => unit.repeat(count))),
);
const anyNotice = fc
  .record({
    policy: anyText,
    reason: anyText,
    cause: anyText,
    build: anyText,
    attribute: anyText,
    label: anyText,
  })
  .chain(({ policy, reason, cause, build, attribute, label }) =>
    fc.constantFrom<Parameters<typeof aRolloutStatus>[0]>(
      {
        ...{ ...held, policy, reason, id: policy, targetBuild: build, causes: causes(cause) },
        buildHold: { ...buildHold, build },
        sharedAttribute: {
          attributes: [{ key: 'name', value: attribute }],
          ...{ failed: 8, tried: 9, elsewhere: { failed: 1, tried: 99 }, share: 0.1 },
        },
      },
      { policy, strata: strataHolding(aHeldStratum({ by: 'daemon', label, reason })) },
      { state: 'finishedWithFailures', policy, reason, endedAt: startedAt, causes: causes(cause) },
    ),
  );
const anyOrigin = fc.record({ publicUrl: fc.constantFrom(publicUrl, `${publicUrl}/${'p'.repeat(3_000)}`) });

describe('a message with names of any length', () => {
  it('keeps the limits of Slack, and cuts no escaped character, command or link', () => {
    fc.assert(
      fc.property(anyNotice, anyOrigin, (changes, origin) => {
        const written = writtenOf(changes, origin);
        const body = slackMessage(written) as SlackBody;
        const blocks = blocksOf(body);
        expect(blocks.length).toBeLessThanOrEqual(50);
        expect(body.text.length).toBeLessThanOrEqual(4_000);
        for (const { text, fields = [], elements = [] } of blocks) {
          if (text !== undefined) expect(text.text.length).toBeLessThanOrEqual(3_000);
          for (const field of fields) expect(field.text.length).toBeLessThanOrEqual(2_000);
          expect(fields.length).toBeLessThanOrEqual(10);
          expect(elements.length).toBeLessThanOrEqual(25);
          for (const button of elements) {
            expect(button.text.text.length).toBeLessThanOrEqual(75);
            expect(button.text.text).not.toBe('');
            expect(button.url.length).toBeLessThanOrEqual(3_000);
          }
        }
        const shown = [
          body.text,
          ...blocks.flatMap(({ text, fields = [] }) => [
            text?.text ?? '',
            ...fields.map((each) => each.text),
          ]),
        ];
        for (const text of shown) {
          const rest = text.replaceAll(/&(?:amp|lt|gt);/g, '').replaceAll(/<https:[^<>]*\|[^<>]*>/g, '');
          expect(rest).not.toMatch(/[&<>]/);
          expect(text).not.toMatch(/\p{Cs}/u);
        }
        const links = [...written.buttons.map(({ href }) => href), written.link, written.guide];
        expect(links).toEqual(expect.arrayContaining(buttonsOf(body).map(({ url }) => url)));
      }),
      { numRuns: 150 },
    );
  });

  it('stays below 28 KB in Teams, with whole commands and links', () => {
    fc.assert(
      fc.property(anyNotice, anyOrigin, (changes, origin) => {
        const written = writtenOf(changes, origin);
        const card = teamsCard(written) as TeamsBody;
        expect(Buffer.byteLength(JSON.stringify(card))).toBeLessThan(28 * 1_024);
        const content = card.attachments[0]?.content;
        const links = [...written.buttons.map(({ href }) => href), written.link, written.guide];
        expect(links).toEqual(expect.arrayContaining((content?.actions ?? []).map(({ url }) => url)));
        const code = (content?.body ?? [])
          .flatMap(({ inlines = [] }) => inlines)
          .filter(({ fontType }) => fontType);
        expect(written.commands).toEqual(expect.arrayContaining(code.map(({ text }) => text)));
      }),
      { numRuns: 150 },
    );
  });
});
