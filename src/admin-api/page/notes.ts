import type { Rollout } from './api.ts';
import { type Child, clock, make, named } from './elements.ts';
import { badge } from './tones.ts';

/** Why a rollout does not continue, what waits for a person, and why upgrades failed; null: nothing to say. */
export function notesOf(rollout: Rollout): readonly (HTMLElement | null)[] {
  return [
    blockerList(rollout),
    outageNote(rollout),
    approvalNote(rollout),
    heldList(rollout),
    causeList(rollout),
    leftBehindList(rollout),
  ];
}

function list(label: string, isBad: boolean, lines: readonly HTMLElement[]): HTMLElement | null {
  if (lines.length === 0) return null;
  return make('ul', { class: isBad ? 'holds bad' : 'holds', 'aria-label': label }, ...lines);
}

function blockerList({ blockers, headline }: Rollout): HTMLElement | null {
  const lines = blockers.map(({ reason, until }) =>
    make('li', {}, reason, ...(until === null ? [] : [', until ', clock(until)])),
  );
  return list('Nothing more starts because', headline.kind === 'held', lines);
}

function outageNote({ api }: Rollout): HTMLElement | null {
  if (api === null || api.standstill === null) return null;
  const { kind, reason, detail, since, until } = api.standstill;
  const isDown = kind === 'serviceDown';
  const end: Child[] =
    until === null ? ['; one request tries it now'] : [isDown ? '; next try ' : ', until ', clock(until)];
  return make(
    'p',
    { class: isDown ? 'holds bad' : 'holds', 'aria-label': 'No requests are being sent because' },
    reason,
    ...(since === null ? [] : [' since ', clock(since)]),
    detail === null ? null : make('span', { class: 'quiet' }, ` (${detail})`),
    ...end,
  );
}

function approvalNote({ state, drift, planHash }: Rollout): HTMLElement | null {
  if (state !== 'awaitingApproval') return null;
  const moved = drift === null ? '' : `The fleet moved since plan ${drift.from} was shown: ${drift.words}. `;
  return make('p', { class: 'holds' }, `${moved}Check it, then approve plan ${planHash}.`);
}

interface Held {
  readonly reason: string;
  readonly by: string;
  readonly at: number;
}

/** The build and the strata of this rollout that an operator has to release. */
function heldList({ buildHold, strata }: Rollout): HTMLElement | null {
  const line = (kind: string, name: string, { reason, by, at }: Held, more: string) => {
    const who = make(
      'span',
      { class: 'quiet' },
      ` (held by ${by}, `,
      clock(at),
      '; upwave release ',
      named(name),
      ')',
    );
    return make('li', {}, `${kind} `, named(name), `: ${reason}${more}`, who);
  };
  const build = buildHold === null ? [] : [line('build', buildHold.build, buildHold, '')];
  const held = strata.held.map((each) => line('stratum', each.label, each, `, ${each.waiting} wait`));
  return list('Held until an operator releases it', true, [...build, ...held]);
}

type CauseGroup = Rollout['causes'][number];

function causeList({ causes }: Rollout): HTMLElement | null {
  const lines = causes.flatMap((group) => [...group.causes.map(causeLine), ...othersLine(group)]);
  return list('Why upgrades failed, wait, or were withdrawn', false, lines);
}

function causeLine({
  kind,
  text,
  count,
  strata,
  otherStrata,
  names,
}: CauseGroup['causes'][number]): HTMLElement {
  const where = strata.map((stratum) => `${stratum.label} ×${stratum.count}`);
  if (otherStrata.strata > 0) where.push(`${otherStrata.strata} more strata ×${otherStrata.count}`);
  const some = names.flatMap((name, index) => [index === 0 ? '' : ', ', named(name)]);
  const end = count > names.length ? ', …)' : ')';
  const whereAndWhich = make('span', { class: 'quiet' }, ` (${where.join(', ')}; `, ...some, end);
  return make('li', {}, `${count} `, badge(kind), ` ${text || 'no reason given'}`, whereAndWhich);
}

function othersLine({ of, others: { count, causes, unread } }: CauseGroup): HTMLElement[] {
  if (count === 0) return [];
  const known = `${unread > 0 ? 'at least ' : ''}${causes} ${causes === 1 ? 'cause' : 'causes'}`;
  const text = causes === 0 ? ', not read' : ` (${known})`;
  return [make('li', { class: 'quiet' }, `and ${count} others `, badge(of), text)];
}

function leftBehindList({ leftBehind }: Rollout): HTMLElement | null {
  const lines = leftBehind.map(({ count, reason, names }) => {
    const more = count > names.length ? ', …' : '';
    return make('li', {}, `${count} not rolled back: ${reason}: ${names.join(', ')}${more}`);
  });
  return list('Not rolled back', true, lines);
}
