import type { Rollout, RolloutEvent, Verb } from './api.ts';
import { add, clock, make, named } from './elements.ts';
import { factList } from './facts.ts';
import { notesOf } from './notes.ts';
import { bar, describe, key } from './progress.ts';
import { badge, toneOf } from './tones.ts';
import { verbButtons } from './verbs.ts';
import { waveParts } from './waves.ts';

/** A rollout with what else is read for its card. */
export interface CardData {
  readonly rollout: Rollout;
  readonly verbs: readonly Verb[];
  readonly events: readonly RolloutEvent[];
}

/** One rollout with all that an operator wants to see of it, and the verbs that are legal. */
export function card({ rollout, verbs, events }: CardData, refresh: () => void): HTMLElement {
  const { id, headline, fromBuilds, targetBuild, counts, planned } = rollout;
  const title = make(
    'div',
    { class: 'title' },
    make('h2', { id: `rollout-${id}` }, id),
    badge(headline.kind),
    make('span', { class: 'builds' }, `${fromBuilds.join(', ')} → `, make('strong', {}, targetBuild)),
    make('div', { class: 'verbs' }, ...verbButtons(rollout, verbs, refresh)),
  );
  const article = make(
    'article',
    { class: 'card', 'aria-labelledby': `rollout-${id}` },
    title,
    make('p', { class: 'quiet' }, rollout.reason),
    ...notesOf(rollout),
    bar({ counts, size: planned, label: describe(counts) }),
    key(counts),
    factList(rollout),
    ...waveParts(rollout),
  );
  if (events.length > 0)
    add(article, make('h3', {}, 'Latest events'), make('ol', { class: 'events' }, ...events.map(eventRow)));
  return article;
}

function eventRow({ at, event, collectorName, wave, reason, by }: RolloutEvent): HTMLElement {
  const subject = collectorName ?? wave;
  const what = make(
    'span',
    { class: 'what' },
    ...(subject === undefined ? [] : [named(subject), ' ']),
    make('span', { class: 'quiet' }, reason + (by === 'daemon' ? '' : ` (by ${by})`)),
  );
  const tone = toneOf(event.split('.').at(-1) ?? '');
  return make('li', {}, clock(at), make('span', { class: `name ${tone}` }, event), what);
}
