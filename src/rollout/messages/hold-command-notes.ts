import { orNames } from '../../base/names.ts';
import type { HoldNote } from '../../contract/admin/holds.ts';
import type { UnreadableRecord } from '../model/rollout.ts';
import { unreadableText } from './rollout-reasons.ts';
import { counted, judgedText, makeText } from './sentences.ts';

type NotJudgedWave = Extract<HoldNote, { readonly kind: 'notJudged' }>['waves'][number];

/** A note as a sentence. */
export const holdNoteText = makeText<HoldNote>({
  buildNotOffered: ({ seenAt, nearest }) =>
    `the service did not offer this build at the last scan (${new Date(seenAt).toISOString()})${didYouMean(nearest)}`,
  collectorUnknown: () => 'the service has no installed collector with this id',
  groupEmpty: ({ nearest }) =>
    `${nearest.length === 0 ? '' : `${meantText(nearest)} `}no collector of a running rollout belongs to this group; later plans leave out its collectors`,
  noRollout: () =>
    'no rollout is running, so upwave does not check whether a collector belongs to this group; `upwave collectors list` shows all collectors. Later plans leave out those of the group',
  notJudged: ({ waves }) => waves.map(notJudgedText).join('; '),
  leftByRollback: ({ rollback, build }) =>
    `${rollback} leaves it on build ${build}, also after a release: only a rollout to another build takes it`,
  waitsInRollback: ({ rollback }) =>
    `${rollback} is a rollback, and does not take these collectors back before the release`,
  rolloutEnded: () => 'the rollout has ended; the next one plans its collectors',
});

function notJudgedText({ name, size, waiting }: NotJudgedWave): string {
  const starting = counted(waiting, 'collector can', 'collectors can');
  return `${starting} start now, although wave ${name} passed its gate without ${waiting === 1 ? 'it' : 'them'} (${judgedText({ size, setAside: waiting })})`;
}

/** The end of a sentence about a name that was not found; empty without similar names. */
export function didYouMean(nearest: readonly string[]): string {
  return nearest.length === 0 ? '' : `; ${meantText(nearest)}`;
}

function meantText(nearest: readonly string[]): string {
  return `did you mean ${orNames(nearest.map((name) => `"${name}"`))}?`;
}

/** Why what an operator names cannot be held or released. */
export type UnknownSubject =
  /** `nearest`: known names that are close to it. */
  | { readonly kind: 'unknown'; readonly subject: string; readonly nearest: readonly string[] }
  /** The stratum belongs to a rollout with an unreadable record. */
  | {
      readonly kind: 'unreadableRollout';
      readonly label: string;
      readonly rolloutId: string;
      readonly record: UnreadableRecord;
    };

export const unknownSubjectText = makeText<UnknownSubject>({
  unknown: ({ subject, nearest }) =>
    `${subject} is not a build, a stratum of a current rollout, or an installed collector${didYouMean(nearest)}`,
  unreadableRollout: ({ label, rolloutId, record }) =>
    `stratum ${label} belongs to ${rolloutId}: ${unreadableText(record)}`,
});
