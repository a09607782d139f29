import { rolloutVerbs } from '../../../base/vocabulary.ts';
import type { Rollout } from '../parts/call.ts';
import type { AskedDialog } from '../parts/route.ts';
import { askHold, askRelease } from './held.tsx';
import { askVerb } from './verb-dialogs.tsx';

/** Opens the dialog that a message leads to. A verb that is no longer possible says so in its dialog. */
export function openAskedDialog({ do: name, what }: AskedDialog, rollout: Rollout): void {
  const verb = rolloutVerbs.find((each) => each === name);
  if (verb !== undefined) askVerb(verb, rollout);
  else if (what !== undefined && name === 'hold') askHold(what, what);
  else if (what !== undefined && name === 'release') askRelease(what, what);
}
