import Table from 'cli-table3';
import { formatDuration } from '../base/duration.ts';
import type { Config } from '../config/config.ts';
import { makeFleetAccess } from '../daemon/fleet-access.ts';
import { makeLocalApiBudget } from '../daemon/local-api-budget.ts';
import { toPrintable } from '../observability/printable.ts';
import { type PlanReading, readPlan } from '../orchestrator/scan.ts';
import { formatAmount } from '../rollout/amount.ts';
import { estimateRemainder } from '../rollout/estimate.ts';
import { describeFailure } from '../rollout/failure-classes.ts';
import { countLeftOut } from '../rollout/freeze-plan.ts';
import { leftOutReasons } from '../rollout/plan.ts';
import type { Policy } from '../rollout/policy.ts';
import { CommandFailure } from './command-failure.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { openConfig } from './open-config.ts';
import { unreachableWords } from './unreachable-words.ts';
import { stopSignal } from './until-signal.ts';

export interface PlanOptions {
  readonly config: string;
  readonly json: boolean;
  /** Also name every collector. */
  readonly members: boolean;
}

/** `upwave plan [policy]`: what a rollout would do now. It writes nothing and needs no Redis. */
export async function planCommand(
  named: string | undefined,
  options: PlanOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const stop = stopSignal();
  const config = openConfig(options.config);
  const policies = choosePolicies(config, named);
  const requestsPerSecond = config.service.requestsPerSecond * config.service.budgetShare;
  const access = makeFleetAccess({
    service: config.service,
    budget: makeLocalApiBudget(requestsPerSecond),
    clock: { now: () => Date.now() },
  });
  try {
    const plans: unknown[] = [];
    for (const policy of policies) {
      const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
      const reading = await readPlan(access.fleet, policy, `${policy.name}-${today}-1`, stop);
      if (!reading.ok) {
        const reason = describeFailure(reading.failure);
        if (reading.failure.kind === 'misconfigured') {
          throw new CommandFailure(exitCodes.usageOrConfig, reason);
        }
        throw new CommandFailure(exitCodes.unreachable, unreachableWords(config, reason));
      }
      if (options.json) plans.push(asJson(policy, reading.value, requestsPerSecond, options.members));
      else output.out.write(`${render(policy, reading.value, requestsPerSecond, options.members)}\n`);
    }
    if (options.json) output.out.write(`${JSON.stringify({ plans }, null, 2)}\n`);
    return exitCodes.done;
  } finally {
    await access.close();
  }
}

function choosePolicies(config: Config, named: string | undefined): readonly Policy[] {
  if (named === undefined) return config.rollouts;
  const policy = config.rollouts.find(({ name }) => name === named);
  if (policy !== undefined) return [policy];
  const names = config.rollouts.map(({ name }) => name).join(', ');
  throw new CommandFailure(exitCodes.usageOrConfig, `no policy is called ${named}; there are ${names}`);
}

function render(
  policy: Policy,
  reading: PlanReading,
  requestsPerSecond: number,
  withMembers: boolean,
): string {
  if (reading.kind === 'noTarget') return `${policy.name}: ${reading.reason}`;
  const { plan } = reading;
  const planned = plan.waves.reduce((sum, { members }) => sum + members.length, 0);
  const lines = [
    `${policy.name} → ${toPrintable(plan.targetBuild)}   ${planned} collectors   plan ${plan.hash}`,
  ];
  if (planned > 0) {
    const table = new Table({
      head: ['wave', 'collectors', 'soak', 'failures allowed'],
      style: { head: [], border: [] },
    });
    for (const [index, { name, members }] of plan.waves.entries()) {
      const rule = policy.waves[index];
      if (rule === undefined) continue;
      table.push([
        toPrintable(name),
        members.length,
        formatDuration(rule.soakMs),
        formatAmount(rule.maxFailures),
      ]);
    }
    const { durationMs, plusMinusMs, requests } = estimate(policy, reading, requestsPerSecond);
    lines.push(table.toString());
    lines.push(
      `takes about ${formatDuration(durationMs)} (±${formatDuration(plusMinusMs)}) and ${requests} requests`,
    );
  }
  const leftOut = Object.entries(countLeftOut(plan.leftOut));
  if (leftOut.length > 0)
    lines.push(`left out: ${leftOut.map(([reason, count]) => `${reason}: ${count}`).join(' · ')}`);
  if (withMembers) lines.push(...renderMembers(reading));
  return lines.join('\n');
}

function renderMembers({ plan }: Extract<PlanReading, { kind: 'planned' }>): string[] {
  const planned = plan.waves.flatMap(({ name, members }) =>
    members.map(
      (member) =>
        `  ${toPrintable(name)}  ${member.id} ${toPrintable(member.name)}  ${toPrintable(member.build)}`,
    ),
  );
  const out = plan.leftOut.map(
    ({ collector, reason }) =>
      `  left out  ${collector.id} ${toPrintable(collector.name)}  ${toPrintable(collector.build)}: ${leftOutReasons[reason]}`,
  );
  return [...planned, ...out];
}

function estimate(
  policy: Policy,
  { plan }: Extract<PlanReading, { kind: 'planned' }>,
  requestsPerSecond: number,
) {
  const remainders = plan.waves.map(({ members }, index) => ({
    upgrades: members.length,
    soakMs: members.length === 0 ? 0 : (policy.waves[index]?.soakMs ?? 0),
  }));
  return estimateRemainder(remainders, policy, requestsPerSecond);
}

function asJson(
  policy: Policy,
  reading: PlanReading,
  requestsPerSecond: number,
  withMembers: boolean,
): unknown {
  if (reading.kind === 'noTarget') return { policy: policy.name, targetBuild: null, reason: reading.reason };
  const { plan } = reading;
  return {
    policy: policy.name,
    targetBuild: plan.targetBuild,
    hash: plan.hash,
    waves: plan.waves.map(({ name, members }) => ({
      name,
      size: members.length,
      ...(withMembers
        ? { members: members.map(({ id, name: memberName, build }) => ({ id, name: memberName, build })) }
        : {}),
    })),
    leftOut: countLeftOut(plan.leftOut),
    ...(withMembers
      ? {
          leftOutCollectors: plan.leftOut.map(({ collector: { id, name }, reason }) => ({
            id,
            name,
            reason: leftOutReasons[reason],
          })),
        }
      : {}),
    estimate: estimate(policy, reading, requestsPerSecond),
  };
}
