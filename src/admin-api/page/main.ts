import { type AnswerOf, call, RefusedError, type Rollout, token } from './api.ts';
import { type CardData, card } from './card.ts';
import { byId, make, showText } from './elements.ts';
import { reloadConfig, showPolicies } from './policies.ts';
import { showEarlier, showHeld } from './tables.ts';
import { wordsOf } from './tones.ts';

const pollMs = 3_000;
const eventsShown = 12;
const cardsMax = 12;
const earlierMax = 30;

interface Shown {
  readonly cards: readonly CardData[];
  readonly held: AnswerOf<'listHolds'>;
  readonly policies: AnswerOf<'listPolicies'>;
  readonly earlier: readonly Rollout[];
}

let nextPoll: ReturnType<typeof setTimeout> | undefined;
let history: { readonly of: string; readonly rollouts: readonly Rollout[] } = { of: '', rollouts: [] };

async function refresh(): Promise<void> {
  clearTimeout(nextPoll);
  try {
    show(await load());
    byId('sign-in').hidden = true;
    showConnection('live', 'good');
  } catch (error) {
    if (error instanceof RefusedError && error.status === 401) {
      showSignIn(token.isKnown() ? 'This token was refused.' : '');
      token.forget();
      return;
    }
    const text =
      error instanceof RefusedError
        ? error.message
        : 'The daemon does not answer. What you see is its last answer.';
    showConnection(text, 'bad');
  }
  nextPoll = setTimeout(() => {
    if (!document.hidden) void refresh();
  }, pollMs);
}

function refreshSoon(): void {
  void refresh();
}

async function load(): Promise<Shown> {
  const [{ rollouts }, held, policies] = await Promise.all([
    call('listRollouts'),
    call('listHolds'),
    call('listPolicies'),
  ]);
  const active = rollouts.filter((rollout) => rollout.endedAt === null).slice(0, cardsMax);
  const current = active.length > 0 ? active : rollouts.slice(0, 1);
  const cards = await Promise.all(current.map(readCard));
  const shown = new Set(current.map(({ id }) => id));
  const earlier = (await readHistory(rollouts)).filter(({ id }) => !shown.has(id)).slice(0, earlierMax);
  return { cards, held, policies, earlier };
}

/** A card without events or verbs is better than no page. */
async function readCard(rollout: Rollout): Promise<CardData> {
  const params = { id: rollout.id };
  const [{ events }, { verbs }] = await Promise.all([
    call('listRolloutEvents', { params, query: { limit: eventsShown } }).catch(() => ({ events: [] })),
    call('listRolloutVerbs', { params }).catch(() => ({ verbs: [] })),
  ]);
  return { rollout, events, verbs };
}

/** Read again only when a rollout began or ended: the daemon describes each of them anew. */
async function readHistory(rollouts: readonly Rollout[]): Promise<readonly Rollout[]> {
  const of = JSON.stringify(rollouts.map(({ id, endedAt }) => [id, endedAt]));
  if (history.of !== of) {
    const page = await call('listRollouts', { query: { limit: earlierMax + cardsMax } });
    history = { of, rollouts: page.rollouts };
  }
  return history.rollouts;
}

function show({ cards, held, policies, earlier }: Shown): void {
  const focused = document.activeElement?.getAttribute('data-key');
  showHeld(held);
  showPolicies(policies, refreshSoon);
  const none = make('p', { class: 'empty' }, "No rollout yet. The daemon scans by each policy's schedule.");
  const shown = cards.map((each) => card(each, refreshSoon));
  byId('rollouts').replaceChildren(...(shown.length > 0 ? shown : [none]));
  showEarlier(earlier);
  if (focused) focusAgain(focused);
  document.title = titleOf(cards.map(({ rollout }) => rollout));
}

function focusAgain(key: string): void {
  const elements = [...document.querySelectorAll<HTMLElement>('[data-key]')];
  elements.find((element) => element.getAttribute('data-key') === key)?.focus();
}

/** Of the rollout that needs a person, or else the newest. */
function titleOf(rollouts: readonly Rollout[]): string {
  const first = rollouts.find(({ headline }) => headline.needsPerson) ?? rollouts[0];
  if (first === undefined) return 'upwave';
  const percent = Math.floor((100 * first.counts.succeeded) / Math.max(1, first.planned));
  return `${wordsOf(first.headline.kind)} ${percent} % · upwave`;
}

function showConnection(text: string, tone: 'good' | 'bad'): void {
  const element = byId('connection');
  showText(element, text);
  element.className = tone === 'bad' ? 'bad' : '';
}

function showSignIn(message: string): void {
  byId('rollouts').replaceChildren();
  for (const id of ['earlier', 'held', 'policies']) byId(id).hidden = true;
  byId('sign-in').hidden = false;
  showText(byId('sign-in-error'), message);
  showConnection('signed out', 'good');
  byId('token').focus();
}

byId('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = byId<HTMLInputElement>('token');
  token.keep(field.value);
  field.value = '';
  refreshSoon();
});
byId('reload').addEventListener('click', () => void reloadConfig(refreshSoon));
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && byId('sign-in').hidden) refreshSoon();
});
refreshSoon();
