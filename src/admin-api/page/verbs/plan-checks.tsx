import { planFacts, planWarnings } from '../../../rollout/messages/plans.ts';
import { callDaemon, type Rollout } from '../parts/call.ts';
import { Lines } from '../parts/lines.tsx';
import { Linked } from '../parts/linked.tsx';
import { useReading } from '../parts/reading.ts';

const readAgainMs = 60_000;
// Months of nights.
const pastMax = 20;

/** What an operator checks before the approval of a plan. The history shows whether its build was given up before. */
export function PlanChecks({ rollout }: { readonly rollout: Rollout }) {
  const { value } = useReading(
    async () => (await callDaemon('listRollouts', { query: { limit: pastMax } })).rollouts,
    readAgainMs,
    [rollout.id],
  );
  return (
    <Lines>
      {[
        ...planWarnings(rollout, value ?? []).map((words) => (
          <b key={words}>
            <Linked text={words} />
          </b>
        )),
        ...planFacts(rollout),
      ]}
    </Lines>
  );
}
