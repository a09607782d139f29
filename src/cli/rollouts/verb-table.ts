import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';

/** What each verb of a rollout does. */
export const verbDescriptions: Readonly<Record<RolloutVerb, string>> = {
  pause: 'start nothing more until resumed; running upgrades are watched to their end',
  resume:
    'continue after a hold or a pause; the failures so far no longer count, and the full limit applies to new ones; without --hold or --yes it asks',
  approve:
    'approve the plan or the wave that waits; without --wave, --plan or --yes it shows what waits, and asks',
  skipSoak: 'end the soak of a wave; its other gates still count; without --wave or --yes it asks',
  abort:
    'end the rollout: nothing more starts, running upgrades are watched to their end; without --yes it asks',
  rollback:
    'show what goes back, ask, then end the rollout and take each upgraded collector back to the build it had: a canary first, within the limits and windows of the policy',
  retry: 'upgrade failed collectors again; without --failed or --yes it asks',
};
