import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import type { VerbRequest } from '../../../src/orchestrator/operations/operations.ts';
import type { RolloutView } from '../../../src/rollout/model/rollout.ts';
import { askedNow } from '../../../src/rollout/status/legal-verbs.ts';
import { describeRollout } from '../../../src/rollout/status/status.ts';
import type { AskedVerb, RolloutVerb } from '../../../src/rollout/verbs/judge-verb.ts';
import { anApiBudgetStatus, startedAt } from '../builders.ts';

/** The requests of verbs without an existing target. */
export const namingNothing: Readonly<Record<RolloutVerb, AskedVerb>> = {
  pause: { verb: 'pause' },
  abort: { verb: 'abort' },
  rollback: { verb: 'rollback' },
  resume: { verb: 'resume', hold: 0 },
  approve: { verb: 'approve', wave: 'nothing' },
  skipSoak: { verb: 'skipSoak', wave: 'nothing' },
  retry: { verb: 'retry', failed: 0 },
};

/** The request for a verb by an operator who has just seen this view or status. */
export function asShown(seen: RolloutView | RolloutStatus, verb: RolloutVerb): AskedVerb {
  const status = 'rollout' in seen ? describeRollout(seen, startedAt, anApiBudgetStatus()) : seen;
  return askedNow(status, verb) ?? namingNothing[verb];
}

/** Requests a verb as an operator who has just read the status does. */
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
