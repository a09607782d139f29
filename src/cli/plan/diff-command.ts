import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import { notInConfig } from '../../base/names.ts';
import { accountConfigsOf } from '../../config/account-configs.ts';
import type { Config } from '../../config/config.ts';
import type { ReloadPreview } from '../../contract/admin/reload.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { nameConfigs } from '../../daemon/live-config.ts';
import type { PlanMemory } from '../../orchestrator/scan/read-plan.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { comparePlan, undoProgress } from '../../rollout/planning/plan-difference.ts';
import { listRollouts } from '../rollouts/choose-rollout.ts';
import { renderReload } from '../rollouts/reload-command.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { openConfig, policyOf } from '../shell/open-config.ts';
import { comparedOf, holdsOfAccount, memoryOf, type ReadRollout, readMembers } from './read-compared.ts';
import { type PlanBasis, readPlans } from './read-plans.ts';
import { diffJson, type PolicyDiff, renderDiff, renderDifferent } from './render-diff.ts';

export interface DiffOptions extends DaemonTarget {
  /** Also name every collector that differs; with `json` they are always named. */
  readonly members: boolean;
}

/** `upwave diff [policy|rollout]`: what this config and a rollout started now would change. It writes nothing. */
export async function diffCommand(
  named: string | undefined,
  options: DiffOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const config = openConfig(options.config);
  const accountOf = (policy: string) =>
    accountConfigsOf(config).find(({ rollouts }) => rollouts.some(({ name }) => name === policy))?.account;
  const { known, preview } = await withDaemon(options, async (client) => {
    const rollouts = await listRollouts(client, named);
    const chosen = choosePolicies(config, rollouts, named);
    return {
      known: await readKnown(client, chosen, { rollouts, accountOf }),
      preview: await client.previewReload(),
    };
  });
  const policies = known.map(({ policy }) => policy);
  const knownOf = ({ name }: Policy) => known.find(({ policy }) => policy.name === name);
  const basisOf = (policy: Policy): Partial<PlanBasis> => basisFor(knownOf(policy));
  const plans = await readPlans(config, policies, output, basisOf);
  const diffs = plans.map(({ policy, reading }): PolicyDiff => {
    const compared = knownOf(policy)?.compared;
    const common = { policy: policy.name, rollout: compared?.status };
    if (reading.kind === 'noTarget') return { ...common, kind: 'noTarget', why: reading.why };
    const { plan } = reading;
    return { ...common, kind: 'compared', plan, difference: comparePlan(compared, plan) };
  });
  const settings = ofPolicies(preview, policies, known);
  if (options.json) printJson(output, { config: settings, plans: diffs.map(diffJson) });
  else {
    const textOf = (diff: PolicyDiff) =>
      [renderDiff(diff, output), ...(options.members ? renderDifferent(diff) : [])].join('\n');
    const blocks = [renderReload(settings, 'preview'), ...diffs.map(textOf)];
    output.out.write(`${blocks.join('\n\n')}\n`);
  }
  noteOtherFile(config, settings, options, output);
  return exitCodes.done;
}

/** The settings of these policies that differ, and those outside of policies. */
function ofPolicies(
  preview: ReloadPreview,
  policies: readonly Policy[],
  known: readonly Known[],
): ReloadPreview {
  const names = new Set(policies.map(({ name }) => name));
  const ids = new Set(known.flatMap(({ compared }) => compared?.status.id ?? []));
  return {
    ...preview,
    policies: preview.policies.filter(({ policy, kind }) => kind === 'removed' || names.has(policy)),
    rollouts: preview.rollouts.filter(({ rollout }) => ids.has(rollout)),
    configs: preview.configs.filter(({ policy }) => names.has(policy)),
  };
}

/** The daemon may run on another machine, with a config file of its own. */
function noteOtherFile(
  config: Config,
  { configs }: ReloadPreview,
  options: DaemonTarget,
  output: ConsoleOutput,
): void {
  const hashes = new Map(configs.map(({ policy, hash }) => [policy, hash]));
  const own = accountConfigsOf(config).flatMap(({ service, rollouts }) =>
    nameConfigs(service.baseUrl, rollouts),
  );
  const other = own.flatMap(({ policy, hash }) =>
    hashes.has(policy) && hashes.get(policy) !== hash ? [policy] : [],
  );
  if (other.length === 0) return;
  output.err.write(
    `note: ${other.join(', ')} differs between the daemon's own file and ${options.config}. Settings are compared with the daemon's file, plans with this file\n`,
  );
}

interface Chosen {
  readonly policy: Policy;
  readonly rollout: RolloutStatus | undefined;
}

interface Known {
  readonly policy: Policy;
  readonly compared: ReadRollout | undefined;
  readonly memory: PlanMemory;
}

/** The policies to compare: all, the named one, or that of the named rollout. @throws CommandFailure */
function choosePolicies(
  { rollouts: policies }: Config,
  rollouts: readonly RolloutStatus[],
  named: string | undefined,
): readonly Chosen[] {
  const withRollout = (policy: Policy): Chosen => ({ policy, rollout: comparedOf(rollouts, policy.name) });
  if (named === undefined) return policies.map(withRollout);
  const policy = policies.find(({ name }) => name === named);
  if (policy !== undefined) return [withRollout(policy)];
  const rollout = rollouts.find(({ id }) => id === named);
  if (rollout === undefined) {
    const names = [...policies.map(({ name }) => name), ...rollouts.map(({ id }) => id)];
    throw new UsageFailure(notInConfig('policy or rollout', named, names));
  }
  if (rollout.kind === 'rollback')
    throw new UsageFailure(
      `${named} is a rollback: name the rollout that it rolls back, ${rollout.rollbackOf}`,
    );
  return [{ policy: policyOf({ rollouts: policies }, rollout.policy), rollout }];
}

/** Reads each rollout once: a running rollout of one policy claims collectors from the others. */
async function readKnown(
  client: AdminClient,
  chosen: readonly Chosen[],
  {
    rollouts,
    accountOf,
  }: {
    readonly rollouts: readonly RolloutStatus[];
    readonly accountOf: (policy: string) => string | undefined;
  },
): Promise<readonly Known[]> {
  const [held, history] = await Promise.all([client.listHolds(), client.listBuildHistory()]);
  const read = new Map<string, Promise<ReadRollout>>();
  const readOnce = (status: RolloutStatus): Promise<ReadRollout> => {
    const reading = read.get(status.id) ?? readMembers(client, status);
    read.set(status.id, reading);
    return reading;
  };
  const known: Known[] = [];
  for (const { policy, rollout } of chosen) {
    const compared = rollout === undefined ? undefined : await readOnce(rollout);
    const others: ReadRollout[] = [];
    for (const other of rollouts) {
      const isBeside = other.policy !== policy.name && accountOf(other.policy) === accountOf(policy.name);
      if (isBeside && other.endedAt === null) others.push(await readOnce(other));
    }
    const own = history.filter(({ accountName }) => accountName === accountOf(policy.name));
    const ofAccount = holdsOfAccount(held, accountOf(policy.name));
    known.push({ policy, compared, memory: memoryOf(ofAccount, compared, others, own) });
  }
  return known;
}

/** Seats collectors as the compared rollout does, so that only what has changed differs. */
function basisFor(known: Known | undefined): Partial<PlanBasis> {
  if (known === undefined) return {};
  const { compared, memory } = known;
  if (compared === undefined) return { memory };
  const fleetOf: PlanBasis['fleetOf'] = (fleet, build) => undoProgress(fleet, build, compared);
  return { memory, seed: compared.status.id, fleetOf };
}
