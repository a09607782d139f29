import { commandNames } from '../../rollout/status/command-for.ts';
import type { RolloutVerb } from '../../rollout/verbs/verbs.ts';

/** How each verb of a rollout is called on the command line, and what it does. */
export const verbTable: Readonly<
  Record<RolloutVerb, { readonly name: string; readonly description: string }>
> = {
  pause: {
    name: commandNames.pause,
    description: 'start nothing more until resumed; running upgrades are watched to their end',
  },
  resume: {
    name: commandNames.resume,
    description:
      'continue after a hold or a pause; the failures so far no longer count, and the full limit applies to new ones; without --hold it asks',
  },
  approve: {
    name: commandNames.approve,
    description:
      'approve the plan or the wave that waits; without --wave or --plan it shows what waits, and asks',
  },
  skipSoak: {
    name: commandNames.skipSoak,
    description: 'end the soak of a wave; its other gates still count; without --wave it asks',
  },
  abort: {
    name: commandNames.abort,
    description: 'end the rollout: nothing more starts, running upgrades are watched to their end',
  },
  rollback: {
    name: commandNames.rollback,
    description:
      'show what goes back, ask, then end the rollout and take each upgraded collector back to the build it had: a canary first, within the limits and windows of the policy',
  },
  retry: {
    name: commandNames.retry,
    description: 'give collectors that failed another turn; without --failed it asks',
  },
};
