import type { AnswerOf, Rollout } from './api.ts';
import { byId, clock, make, named, row } from './elements.ts';
import { failedOf } from './progress.ts';
import { badge } from './tones.ts';

type Held = AnswerOf<'listHolds'>;

// More collectors than this are counted, not named.
const heldMax = 50;

/** Builds and collectors that are held until a person releases them. */
export function showHeld({ builds, collectors }: Held): void {
  const rows = [
    ...builds.map((held) => heldRow(`build ${held.build}`, held)),
    ...collectors
      .slice(0, heldMax)
      .map((held) => heldRow(`collector ${[held.collectorId, held.name].filter(Boolean).join(' ')}`, held)),
  ];
  const more = collectors.length - heldMax;
  if (more > 0) rows.push(row(`${more} more collectors`));
  byId('held').hidden = rows.length === 0;
  byId('held-rows').replaceChildren(...rows);
}

function heldRow(
  what: string,
  { reason, by, at }: Held['builds'][number] | Held['collectors'][number],
): HTMLElement {
  return row(named(what), reason, by, clock(at));
}

/** Rollouts that have ended and have no card. */
export function showEarlier(rollouts: readonly Rollout[]): void {
  byId('earlier').hidden = rollouts.length === 0;
  byId('earlier-rows').replaceChildren(...rollouts.map(earlierRow));
}

function earlierRow({ id, headline, targetBuild, counts, planned, endedAt }: Rollout): HTMLElement {
  const number = (text: string) => make('td', { class: 'number' }, text);
  const element = row(id, badge(headline.kind), targetBuild);
  element.append(
    number(`${counts.succeeded} / ${planned}`),
    number(String(failedOf(counts))),
    make('td', {}, endedAt === null ? '–' : clock(endedAt)),
  );
  return element;
}
