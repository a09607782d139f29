import { toPrintable } from '../../base/safe-text.ts';
import { accountConfigsOf } from '../../config/account-configs.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { makeLocalApiBudget } from '../../daemon/api-budgets.ts';
import { makeFleetAccess } from '../../daemon/fleet-access.ts';
import { ourRequestsPerSecond } from '../../daemon/service-settings.ts';
import { type FleetService, mapAnswer } from '../../orchestrator/ports/fleet-service.ts';
import { noMemory, type PlanMemory, type PlanReading, readPlan } from '../../orchestrator/scan/read-plan.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import { echoedSecretsOf } from '../shell/choose-redis.ts';
import { UsageFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { openReadWindow } from '../shell/read-window.ts';
import { makeServiceReporter, noAnswer } from '../shell/service-notes.ts';
import { stopSignal } from '../shell/stop-signal.ts';

/** What a rollout of a policy would do now. */
export interface PolicyPlan {
  readonly policy: Policy;
  /** The account of the policy, where the config has several. */
  readonly account?: string | undefined;
  readonly reading: PlanReading;
}

/** Inputs of a plan beside the policy and the service. */
export interface PlanBasis {
  /** The id of a rollout. The same id puts the same collectors into the same waves. */
  readonly seed: string;
  readonly memory: PlanMemory;
  /** The fleet that the plan is made for. */
  readonly fleetOf: (fleet: FleetSnapshot, targetBuild: string) => FleetSnapshot;
}

/** Omitted inputs are those of a first rollout. */
type BasisOf = (policy: Policy) => Partial<PlanBasis>;

/**
 * Reads the service, and makes the plan of each of these policies. It writes nothing. Notes on stderr say where the account
 * has moved, and which rows of the inventory were unreadable. @throws CommandFailure
 */
export async function readPlans(
  config: Config,
  policies: readonly Policy[],
  output: Pick<ConsoleOutput, 'err' | 'addSecrets'>,
  basisOf: BasisOf = () => ({}),
): Promise<readonly PolicyPlan[]> {
  output.addSecrets?.(echoedSecretsOf(config));
  const plans = new Map<string, PolicyPlan>();
  for (const own of accountConfigsOf(config)) {
    const ofAccount = policies.filter(({ name }) => own.rollouts.some((policy) => policy.name === name));
    if (ofAccount.length === 0) continue;
    for (const plan of await readAccount(own, ofAccount, output, basisOf)) plans.set(plan.policy.name, plan);
  }
  return policies.flatMap(({ name }) => plans.get(name) ?? []);
}

async function readAccount(
  config: AccountConfig,
  policies: readonly Policy[],
  output: Pick<ConsoleOutput, 'err'>,
  basisOf: BasisOf,
): Promise<readonly PolicyPlan[]> {
  const stop = stopSignal();
  const { onMoved, onProxy, onPauseWait } = makeServiceReporter(output);
  const clock = { now: () => Date.now() };
  const access = makeFleetAccess({
    service: config.service,
    budget: makeLocalApiBudget(ourRequestsPerSecond(config.service), onPauseWait),
    clock,
    keyMemory: null,
    metrics: null,
    sink: {
      note: (note) => {
        if (note.event === 'service.moved') onMoved(note.baseUrl);
        if (note.event === 'service.proxied') onProxy(note.proxy);
        if (note.event === 'inventory.incomplete') output.err.write(`note: ${note.reason}\n`);
      },
    },
    readWindow: openReadWindow(output),
  });
  const fleet = readOnce(access.fleet);
  try {
    const plans: PolicyPlan[] = [];
    for (const policy of policies) {
      const { seed, memory, fleetOf } = { ...firstBasis(policy), ...basisOf(policy) };
      const reading = await readPlan({ fleet: withFleet(fleet, fleetOf), clock }, policy, seed, memory, stop);
      if (!reading.ok) {
        const named = config.account === undefined ? '' : `account ${config.account}: `;
        const reason = toPrintable(`${named}${describeFailure(reading.failure)}`);
        if (reading.failure.kind === 'misconfigured') throw new UsageFailure(reason);
        throw noAnswer(config, reading.failure, reason);
      }
      plans.push({ policy, account: config.account, reading: reading.value });
    }
    return plans;
  } finally {
    await access.close();
  }
}

function firstBasis({ name }: Policy): PlanBasis {
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  return { seed: `${name}-${today}-1`, memory: noMemory, fleetOf: (fleet) => fleet };
}

function withFleet(fleet: FleetService, fleetOf: PlanBasis['fleetOf']): FleetService {
  return {
    ...fleet,
    readFleet: async (targetBuild, signal) => {
      const read = await fleet.readFleet(targetBuild, signal);
      return mapAnswer(read, (value) => fleetOf(value, targetBuild));
    },
  };
}

/** The same inventory for all policies: it costs a request for each thousand collectors, and plans can be compared. */
function readOnce(fleet: FleetService): FleetService {
  let builds: ReturnType<FleetService['listBuilds']> | undefined;
  const snapshots = new Map<string, ReturnType<FleetService['readFleet']>>();
  return {
    ...fleet,
    listBuilds: (signal) => {
      builds ??= fleet.listBuilds(signal);
      return builds;
    },
    readFleet: (targetBuild, signal) => {
      const snapshot = snapshots.get(targetBuild) ?? fleet.readFleet(targetBuild, signal);
      snapshots.set(targetBuild, snapshot);
      return snapshot;
    },
  };
}
