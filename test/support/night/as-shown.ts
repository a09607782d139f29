import type { VerbRequest } from '../../../src/orchestrator/operations/operations.ts';
import type { RolloutView } from '../../../src/rollout/model/rollout.ts';
import { askedNow } from '../../../src/rollout/status/legal-verbs.ts';
import { describeRollout, type RolloutStatus } from '../../../src/rollout/status/status.ts';
import type { AskedVerb, RolloutVerb } from '../../../src/rollout/verbs/verbs.ts';
import { anApiBudgetStatus, startedAt } from '../builders.ts';

/** What a verb names where there is nothing that it could be for. */
export const namingNothing: Readonly<Record<RolloutVerb, AskedVerb>> = {
  pause: { verb: 'pause' },
  abort: { verb: 'abort' },
  rollback: { verb: 'rollback' },
  resume: { verb: 'resume', hold: 0 },
  approve: { verb: 'approve', wave: 'nothing' },
  skipSoak: { verb: 'skipSoak', wave: 'nothing' },
  retry: { verb: 'retry', failed: 0 },
};

/** A verb as a person asks for it who has just seen this view, or status. */
export function asShown(seen: RolloutView | RolloutStatus, verb: RolloutVerb): AskedVerb {
  const status = 'rollout' in seen ? describeRollout(seen, startedAt, anApiBudgetStatus()) : seen;
  return askedNow(status, verb) ?? namingNothing[verb];
}

/** Asks for a verb as a person does who has just read the status. */
export async function applyAsShown<Answer>(
  operations: {
    rolloutStatus(rolloutId: string): Promise<RolloutStatus | undefined>;
    apply(request: VerbRequest): Promise<Answer>;
  },
  {
    verb,
    ...rest
  }: {
    readonly rolloutId: string;
    readonly verb: RolloutVerb;
    readonly by: string;
    readonly reason: string;
  },
): Promise<Answer> {
  const status = await operations.rolloutStatus(rest.rolloutId);
  const asked = status === undefined ? undefined : askedNow(status, verb);
  return operations.apply({ ...rest, ...(asked ?? namingNothing[verb]) });
}
