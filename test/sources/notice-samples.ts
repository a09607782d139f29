import {
  linksOf,
  type WrittenNotice,
  writeNotice,
} from '../../src/observability/notifications/written-notice.ts';
import type { NoticeTone } from '../../src/rollout/messages/notices.ts';
import { type Notice, noticeEvents } from '../../src/rollout/model/notice.ts';
import { type AnnouncedRollout, dueOfRollout } from '../../src/rollout/notices/due-notices.ts';
import { dueOfPolicy } from '../../src/rollout/notices/due-of-policy.ts';
import { startedAt } from '../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../support/fake-operations.ts';
import { aCause, aHeldStratum, strataHolding } from '../support/status-parts.ts';

const minute = 60_000;
const origin = { installation: undefined, publicUrl: 'https://upwave.example.com' };

const counts = countsOf({ succeeded: 180, failed: 11, upgrading: 20, pending: 289 });
const figures = { planned: 500, counts, inFlight: 20 } as const;
const failures = (count: number, text: string) => aCause({ count, text });
const causes = [
  {
    ...({ of: 'failed', total: 11, others: { count: 0, causes: 0, unread: 0 } } as const),
    causes: [
      failures(6, 'unable to remove files: a file is in use'),
      failures(2, 'disk full'),
      failures(1, 'no memory'),
      failures(2, 'permission denied'),
    ],
  },
];
const waves = [
  aWaveStatus({ name: 'canary', state: 'passed' }),
  aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' }),
];
const reason = 'wave rest: 11 failures, 10 allowed';
const sharedAttribute = {
  attributes: [{ key: 'osName', value: 'Windows Server 2016' }],
  ...{ failed: 9, tried: 12, elsewhere: { failed: 2, tried: 199 }, share: 0.06 },
};
const held = aRolloutStatus({
  ...{ ...figures, causes, sharedAttribute, reason, state: 'held', hold: 7 },
  verbs: ['resume', 'abort', 'rollback'],
});
const stratum = aHeldStratum({ by: 'daemon', label: 'AIX / ppc64', reason: '3 of 3 failed', waiting: 40 });

/** Everything that is announced while a rollout is read in these states, ten minutes apart. */
function announcedOf(...statuses: ReadonlyArray<ReturnType<typeof aRolloutStatus>>): readonly Notice[] {
  let announced: AnnouncedRollout | undefined;
  return statuses.flatMap((status, index) => {
    const now = startedAt + index * 10 * minute;
    const due = dueOfRollout(announced, status, { now, since: startedAt, gracePeriodMs: 60 * minute });
    announced = due.announced;
    return due.notices;
  });
}

const running = aRolloutStatus(figures);
const scan = { policy: 'production', failure: { reason: 'the service is down (503)' }, overdueAt: startedAt };
const failing = dueOfPolicy(undefined, scan, startedAt).announced;

const notStarted = aRolloutStatus({ planned: 500, counts: countsOf({ pending: 500 }), inFlight: 0 });
const ended = aRolloutStatus({
  ...{ planned: 500, counts: countsOf({ succeeded: 485, failed: 11, withdrawn: 4 }), inFlight: 0, causes },
  ...{ state: 'finishedWithFailures', endedAt: startedAt, reason: 'wave rest: all upgrades ended' },
});

const samples: readonly Notice[] = [
  ...announcedOf(notStarted),
  ...announcedOf(aRolloutStatus({ ...figures, waves, verbs: ['approve', 'abort'] })),
  ...announcedOf(held, aRolloutStatus({ ...figures, reason: 'by ann: the disks are clean' })),
  ...announcedOf(
    aRolloutStatus({
      ...{
        ...figures,
        state: 'held',
        hold: 7,
        reason: 'build 19.536-4 is held: it failed in staging',
        verbs: ['abort'],
      },
      buildHold: { build: '19.536-4', reason: 'it failed in staging', by: 'daemon', at: startedAt },
    }),
  ),
  ...announcedOf(aRolloutStatus({ ...figures, strata: strataHolding(stratum) })),
  ...announcedOf(...Array.from({ length: 8 }, () => running)),
  ...dueOfPolicy(failing, scan, startedAt + 20 * minute).notices,
  ...announcedOf(ended),
];

const colours: Readonly<Record<NoticeTone, string>> = {
  bad: 'red',
  late: 'amber',
  good: 'green',
  busy: 'blue',
};

/** One sample of each kind: its name, and the message. */
export function writtenSamples(): ReadonlyArray<readonly [string, WrittenNotice]> {
  // The first of each kind.
  const byKind = new Map(samples.toReversed().map((notice) => [kindOf(notice), notice]));
  return [...byKind]
    .sort(([one], [other]) => placeOf(one) - placeOf(other))
    .map(([kind, notice]) => [kind, writeNotice(notice, origin)]);
}

/** The samples as chats show them, in words. */
export function noticeSamples(): string {
  return writtenSamples()
    .map(([kind, written]) => `**${kind}**\n\n\`\`\`text\n${asShown(written)}\n\`\`\``)
    .join('\n\n');
}

function kindOf({ details, phase, actions = [] }: Notice): string {
  if (phase === 'over') return `${details.event}, over`;
  const releases = details.event === 'held' && actions.some(({ verb }) => verb === 'release');
  return releases ? 'held, by a held build' : details.event;
}

function placeOf(kind: string): number {
  return noticeEvents.findIndex((event) => kind.startsWith(event));
}

/** The buttons of a message, as chats show them. */
export function buttonLabels(written: WrittenNotice): readonly (string | undefined)[] {
  const [page, ...guides] = linksOf(written).map(({ text }) => text);
  return [page, ...written.buttons.map(({ label }) => label), ...guides];
}

function asShown(written: WrittenNotice): string {
  const { tone, title, cause, figures: shown, causes: lines, commands } = written;
  return [
    `${title}   (${colours[tone]})`,
    cause,
    ...(shown === null
      ? []
      : [shown.where, shown.values.map(({ name, value }) => `${name} ${value}`).join('   ')]),
    ...lines.map((each) => `• ${each}`),
    ...commands,
    buttonLabels(written)
      .map((label) => `[${label}]`)
      .join(' '),
  ]
    .filter((line) => line !== '')
    .join('\n');
}
