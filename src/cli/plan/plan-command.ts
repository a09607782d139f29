import { toPrintable } from '../../base/safe-text.ts';
import { accountConfigOf } from '../../config/account-configs.ts';
import { ourRequestsPerSecond } from '../../daemon/service-settings.ts';
import { noTargetWords } from '../../rollout/messages/exclusions.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { findOverlaps, type PolicyClaim } from '../../rollout/planning/overlap.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import type { CommandOptions } from '../shell/command.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { openConfig, policyOf } from '../shell/open-config.ts';
import { assessPlan } from './plan-figures.ts';
import { planJson } from './plan-json.ts';
import { type PolicyPlan, readPlans } from './read-plans.ts';
import { overlapWords, renderMembers, renderPlan } from './render-plan.ts';

export interface PlanOptions extends CommandOptions {
  /** Also name every collector. */
  readonly members: boolean;
}

/** `upwave plan [policy]`: what a rollout would do now. It writes nothing and needs no Redis. */
export async function planCommand(
  named: string | undefined,
  { config: path, json, members }: PlanOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const config = openConfig(path);
  const policies = named === undefined ? config.rollouts : [policyOf(config, named)];
  const plans = await readPlans(config, policies, output);
  const now = Date.now();
  const assess = (policy: Policy, plan: Plan) => {
    const requestsPerSecond = ourRequestsPerSecond(accountConfigOf(config, policy.name).service);
    return assessPlan(policy, plan, { now, requestsPerSecond });
  };
  const overlaps = findOverlaps(plans.map(claimOf));
  if (json) {
    const shown = plans.map(({ policy, reading }) =>
      reading.kind === 'noTarget'
        ? {
            policy: policy.name,
            targetBuild: null,
            kind: reading.why.kind,
            reason: noTargetWords(reading.why),
          }
        : planJson(policy, reading.plan, assess(policy, reading.plan), members),
    );
    printJson(output, { plans: shown, overlaps });
    return exitCodes.done;
  }
  const blocks = plans.map(({ policy, reading }) => {
    if (reading.kind === 'noTarget') return `${policy.name}: ${toPrintable(noTargetWords(reading.why))}`;
    const { plan } = reading;
    const text = renderPlan(policy, plan, assess(policy, plan), now, output.columns);
    return members ? `${text}\n${renderMembers(plan)}` : text;
  });
  output.out.write(`${blocks.join('\n\n')}\n`);
  for (const overlap of overlaps) output.out.write(`overlap: ${overlapWords(overlap)}\n`);
  return exitCodes.done;
}

function claimOf({ policy, account, reading }: PolicyPlan): PolicyClaim {
  const waves = reading.kind === 'planned' ? reading.plan.waves : [];
  const members = waves.flatMap((wave) => wave.members.map(({ collector }) => collector));
  return { policy: policy.name, account, members };
}
