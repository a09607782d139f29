import type { EpochMs } from '../../base/time.ts';

/** What a person should know about a hold or a release that was done. */
export type HoldNote =
  /** The last scan, at this instant, did not find the build on offer. */
  | { readonly kind: 'buildNotOffered'; readonly seenAt: EpochMs; readonly nearest: readonly string[] }
  /** The service has no installed collector with this id. */
  | { readonly kind: 'collectorUnknown' }
  /** No collector of the plan belongs to the stratum; one that joins later would be held. */
  | { readonly kind: 'stratumEmpty'; readonly nearest: readonly string[] }
  /** The rollout that held the stratum has ended: only the next one starts something there. */
  | { readonly kind: 'rolloutEnded' };

/** A note as a sentence. */
export function holdNoteWords(note: HoldNote): string {
  switch (note.kind) {
    case 'buildNotOffered': {
      const seenAt = new Date(note.seenAt).toISOString();
      return `the service did not offer this build at the last scan (${seenAt})${didYouMean(note.nearest)}`;
    }
    case 'collectorUnknown':
      return 'the service has no installed collector with this id';
    case 'stratumEmpty':
      return `no collector of the plan belongs to this stratum${didYouMean(note.nearest)}`;
    case 'rolloutEnded':
      return 'the rollout has ended; the next one plans its collectors';
    default:
      return note satisfies never;
  }
}

/** The end of a sentence about a name that was not found; empty where nothing is near. */
export function didYouMean(nearest: readonly string[]): string {
  return nearest.length === 0 ? '' : `; did you mean ${nearest.map((name) => `"${name}"`).join(', ')}?`;
}

/** What an operator wants to hold or release is not known. */
export function unknownSubjectWords(subject: string): string {
  return `nothing is called ${subject}`;
}
