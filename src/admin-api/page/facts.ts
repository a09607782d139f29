import { etaUnknownWords } from '../../rollout/status/eta-unknown-words.ts';
import type { Rollout } from './api.ts';
import { type Child, clock, make, span } from './elements.ts';

/** The figures of a rollout, each with its name. */
export function factList(rollout: Rollout): HTMLElement {
  const { inFlight, concurrency, endedAt, eta, window, api, strata, rollbackOf, rollbackId } = rollout;
  const facts = [
    fact('In flight', `${inFlight} of ${concurrency}`),
    fact('Collectors', String(rollout.planned), leftOutNote(rollout)),
    endedAt !== null ? fact('Ended', clock(endedAt)) : eta === null ? null : etaFact(eta),
    fact('Started', clock(rollout.createdAt), ` by ${rollout.startedBy}`),
    fact('Plan', rollout.planHash),
    window === null ? null : windowFact(window),
    api === null ? null : apiFact(api),
    strata.total > 1 ? strataFact(strata) : null,
    rollbackOf === null ? null : fact('Rolls back', rollbackOf),
    rollbackId === null ? null : fact('Rolled back by', rollbackId),
  ];
  return make('dl', { class: 'facts' }, ...facts);
}

function fact(name: string, ...value: readonly Child[]): HTMLElement {
  return make('div', {}, make('dt', {}, name), make('dd', {}, ...value));
}

function leftOutNote({ leftOut }: Rollout): HTMLElement | null {
  const total = leftOut.reduce((sum, { count }) => sum + count, 0);
  const why = leftOut.map(({ reason, count }) => `${count}: ${reason}`).join(' · ');
  return total === 0 ? null : make('span', { title: why }, `, ${total} left out`);
}

function etaFact(eta: NonNullable<Rollout['eta']>): HTMLElement {
  if (eta.kind === 'unknown') return fact('Done about', `unknown: ${etaUnknownWords[eta.reason]}`);
  if (eta.kind === 'atTheLatest') return fact('Done at the latest', etaClock(eta.at));
  const requests = make('span', { class: 'quiet small' }, `, ${eta.requests} requests`);
  const range = [` ± ${span(eta.plusMinusMs)}`, requests];
  if (eta.kind === 'at') return fact('Done about', etaClock(eta.at), ...range);
  const due = eta.approvalAt === null ? [] : [' (due about ', etaClock(eta.approvalAt), ')'];
  return fact('Done', `${span(eta.durationMs)} after approval`, ...due, ...range);
}

/** On another day with the zone: the reader may be elsewhere by then. */
function etaClock(at: number): HTMLElement {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return make('span', {}, clock(at), isToday ? '' : ` ${Intl.DateTimeFormat().resolvedOptions().timeZone}`);
}

function windowFact({
  isOpen,
  until,
  timeZone,
  ownZones,
  reason,
}: NonNullable<Rollout['window']>): HTMLElement {
  const own = ownZones ? ", also by each collector's own time zone" : '';
  return fact(
    'Window',
    make('span', { class: isOpen ? undefined : 'late' }, isOpen ? 'open' : 'closed'),
    ...(until === null ? [] : [' until ', clock(until, timeZone)]),
    ` ${timeZone}`,
    make('span', { class: 'quiet small' }, `${own} (${reason})`),
  );
}

function apiFact({
  requestsPerSecond,
  requestsPerSecondMax,
  rateLimited,
}: NonNullable<Rollout['api']>): HTMLElement {
  const most = Number(requestsPerSecondMax.toFixed(2));
  const throttled = make('span', { title: 'in the last hour' }, `, 429s ${rateLimited}`);
  const rate = `${requestsPerSecond.toFixed(1)} of ${most} requests/s`;
  return fact('API', rate, rateLimited === 0 ? null : throttled);
}

function strataFact({ total, uncovered: { count, labels } }: Rollout['strata']): HTMLElement {
  const some = labels.join(' · ') + (count > labels.length ? ' · …' : '');
  const note = make('span', { title: some }, `, ${count} in the last wave only`);
  return fact('Strata', String(total), count === 0 ? null : note);
}
