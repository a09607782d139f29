import { toPrintable } from '../../base/safe-text.ts';
import { accountConfigOf } from '../../config/account-configs.ts';
import { ourRequestsPerSecond } from '../../daemon/service-settings.ts';
import { leftOutText, noTargetText, selectsNobody, showLeftOut } from '../../rollout/messages/exclusions.ts';
import { holdsUnknownText } from '../../rollout/messages/plans.ts';
import { countLeftOut } from '../../rollout/model/left-out.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { findOverlaps, type PolicyClaim } from '../../rollout/planning/overlap.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import type { DaemonTarget } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { openConfig, policyOf } from '../shell/open-config.ts';
import { assessPlan, type PlanFigures } from './plan-figures.ts';
import { holdsOfAccount, memoryOf } from './read-compared.ts';
import { readHolds } from './read-holds.ts';
import { type PolicyPlan, readPlans } from './read-plans.ts';
import { fitted, overlapText, renderMembers, renderPlan } from './render-plan.ts';

export interface PlanOptions extends DaemonTarget {
  /** Also name every collector. */
  readonly members: boolean;
}

/** `upwave plan [policy]`: what a rollout would do now. It writes nothing and needs no Redis. A daemon that runs is asked for holds and its history. */
export async function planCommand(
  named: string | undefined,
  options: PlanOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { json, members } = options;
  const config = openConfig(options.config);
  const policies = named === undefined ? config.rollouts : [policyOf(config, named)];
  const holds = await readHolds(options);
  const historyOf = ({ name }: Policy) => {
    const { account } = accountConfigOf(config, name);
    return holds.kind === 'known' ? holds.history.filter(({ accountName }) => accountName === account) : [];
  };
  const plans = await readPlans(config, policies, output, (policy) => {
    if (holds.kind !== 'known') return {};
    const held = holdsOfAccount(holds.held, accountConfigOf(config, policy.name).account);
    return { memory: memoryOf(held, undefined, [], historyOf(policy)) };
  });
  const now = Date.now();
  const assess = (policy: Policy, plan: Plan) => {
    const requestsPerSecond = ourRequestsPerSecond(accountConfigOf(config, policy.name).service);
    return assessPlan(policy, plan, { now, requestsPerSecond, history: historyOf(policy) });
  };
  const exitCode = plans.some(selectsNothing) ? exitCodes.heldOrNeedsAPerson : exitCodes.done;
  const overlaps = findOverlaps(plans.map(claimOf));
  if (json) {
    const answers = plans.map(({ policy, reading }) =>
      reading.kind === 'noTarget'
        ? {
            policy: policy.name,
            targetBuild: null,
            kind: reading.why.kind,
            reason: noTargetText(reading.why),
          }
        : planJson(policy, reading.plan, assess(policy, reading.plan), members),
    );
    printJson(output, { plans: answers, overlaps, holdsKnown: holds.kind === 'known' });
    return exitCode;
  }
  const blocks = plans.map(({ policy, reading }) => {
    if (reading.kind === 'noTarget') return `${policy.name}: ${toPrintable(noTargetText(reading.why))}`;
    const { plan } = reading;
    const text = renderPlan(policy, plan, assess(policy, plan), now, output.columns);
    return members ? `${text}\n${renderMembers(plan)}` : text;
  });
  output.out.write(`${blocks.join('\n\n')}\n`);
  for (const overlap of overlaps) output.out.write(`overlap: ${overlapText(overlap)}\n`);
  if (holds.kind === 'unknown')
    output.out.write(`${fitted(`holds: ${holdsUnknownText(holds.why)}`, output.columns).join('\n')}\n`);
  return exitCode;
}

function selectsNothing({ reading }: PolicyPlan): boolean {
  if (reading.kind === 'noTarget') return false;
  const { waves, leftOut } = reading.plan;
  const isPlanned = waves.some(({ members }) => members.length > 0);
  return !isPlanned && selectsNobody(leftOut);
}

function claimOf({ policy, account, reading }: PolicyPlan): PolicyClaim {
  const waves = reading.kind === 'planned' ? reading.plan.waves : [];
  const members = waves.flatMap((wave) => wave.members.map(({ collector }) => collector));
  return { policy: policy.name, account, members };
}

/** A plan for programs. */
export function planJson(policy: Policy, plan: Plan, figures: PlanFigures, withMembers: boolean): unknown {
  const { waves, ...others } = figures;
  return {
    policy: policy.name,
    targetBuild: plan.targetBuild,
    hash: plan.hash,
    approval: policy.approval,
    minimumAgeMs: policy.target.minimumAgeMs,
    ...others,
    waves: waves.map((wave, index) => ({ ...wave, ...(withMembers && { members: membersOf(plan, index) }) })),
    leftOut: showLeftOut(countLeftOut(plan.leftOut.map(({ kind }) => kind))),
    ...(withMembers && { leftOutCollectors: leftOutCollectors(plan) }),
  };
}

function membersOf({ waves, groups }: Plan, index: number): unknown {
  return waves[index]?.members.map(({ collector: { id, name, build }, order, stratum }) => ({
    id,
    name,
    build,
    order,
    stratum: groups.strata[stratum]?.label ?? '',
  }));
}

function leftOutCollectors({ leftOut }: Plan): unknown {
  return leftOut.map(({ collector: { id, name }, kind }) => ({ id, name, kind, reason: leftOutText[kind] }));
}
