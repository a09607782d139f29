import type { RolloutEvent } from '../rollout/events.ts';
import { BrokenRecordError } from './broken-record.ts';

/** Reads an event back. @param entryId its place in the stream @throws BrokenRecordError */
export function decodeEvent(text: string, rolloutId: string, entryId: string): RolloutEvent {
  try {
    return JSON.parse(text) as RolloutEvent;
  } catch (error) {
    throw new BrokenRecordError(`event ${entryId} of rollout ${rolloutId}`, error);
  }
}
