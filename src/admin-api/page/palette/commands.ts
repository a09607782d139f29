import { docsPath } from '../../../docs/docs-paths.ts';
import { headlineWords } from '../../../rollout/messages/need-texts.ts';
import { callDaemon } from '../parts/call.ts';
import { me, rollouts } from '../parts/live.ts';
import { linkTo, route } from '../parts/route.ts';
import { askVerb, labelOf } from '../verbs/verb-dialogs.tsx';

/** What can be chosen in the palette. */
export interface Command {
  readonly words: string;
  readonly run: () => void;
}

const shownMax = 12;
const rolloutsMax = 6;

/** The commands that contain all typed words, the likeliest first. */
export function commandsFor(typed: string): readonly Command[] {
  const found = commandsWith(typed);
  const name = typed.trim();
  const search: readonly Command[] =
    name === ''
      ? []
      : [
          go(`show collector ${name}`, linkTo.collector(name)),
          // What is no command may be a part of a name.
          ...(found.length > 0 ? [] : rollouts.value.slice(0, rolloutsMax).map(searchIn(name))),
        ];
  return [...found.slice(0, shownMax - search.length), ...search];
}

function commandsWith(typed: string): readonly Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return allCommands().filter((command) => words.every((word) => command.words.toLowerCase().includes(word)));
}

const lettersMin = 3;
const namedMax = 6;

/** Collectors of the rollouts shown first whose name contains this; none while the daemon is away. */
export async function findCollectors(part: string): Promise<readonly Command[]> {
  if (part.length < lettersMin || commandsWith(part).length > 0) return [];
  const query = { match: part, limit: namedMax };
  const pages = await Promise.all(
    rollouts.value.slice(0, rolloutsMax).map(({ id }) =>
      callDaemon('listRolloutCollectors', { params: { id }, query }).then(
        ({ collectors }) => collectors,
        () => [],
      ),
    ),
  );
  const named = new Map(pages.flat().map((each) => [each.collectorId, each.collectorName]));
  const isNamed = (name: string) => name.toLowerCase().includes(part.toLowerCase());
  return [...named]
    .filter(([, name]) => isNamed(name))
    .slice(0, namedMax)
    .map(([id, name]) => go(`collector ${name}`, linkTo.collector(String(id))));
}

function allCommands(): readonly Command[] {
  const current = route.value;
  const here = rollouts.value.find(({ id }) => 'id' in current && current.id === id);
  const others = rollouts.value.filter((each) => each !== here);
  return [
    ...(here === undefined ? [] : verbsOf(here)),
    go('go to the policies', linkTo.overview),
    go('go to the activity', linkTo.activity()),
    go('go to the builds', linkTo.builds),
    { words: 'go to the guides', run: () => location.assign(docsPath) },
    ...[...(here === undefined ? [] : [here]), ...others].flatMap((rollout) => [
      go(`go to ${rollout.id} (${headlineWords(rollout)})`, linkTo.rollout(rollout.id)),
      go(`collectors of ${rollout.id}`, linkTo.collectors(rollout.id)),
      go(`failed collectors of ${rollout.id}`, linkTo.collectors(rollout.id, { state: 'failed' })),
    ]),
    ...others.flatMap(verbsOf),
  ];
}

function go(words: string, link: string): Command {
  return {
    words,
    run: () => {
      location.hash = link;
    },
  };
}

function searchIn(name: string): (rollout: (typeof rollouts.value)[number]) => Command {
  return ({ id }) => go(`search ${name} in collectors of ${id}`, linkTo.collectors(id, { match: name }));
}

/** Each opens the dialog of its verb. */
function verbsOf(rollout: (typeof rollouts.value)[number]): readonly Command[] {
  if (me.value.role !== 'operator') return [];
  return rollout.verbs.map((verb) => ({
    words: `${labelOf(verb, rollout)}: ${rollout.id}`,
    run: () => askVerb(verb, rollout),
  }));
}
