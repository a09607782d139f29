import { z } from 'zod';
import { invariant } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import { isInstalled, makeFleetCollectorReader } from '../../collector-api/fleet/fleet-collector.ts';
import type { Config } from '../../config/config.ts';
import { readTextFile } from '../../config/source/text-file.ts';
import { SeenCollector } from '../../contract/collector-management/seen-collector.ts';
import type { OtherPolicy } from '../../rehearsal/play/agenda.ts';
import { fleetAsOf } from '../../rehearsal/world/virtual-service.ts';
import { noTargetText } from '../../rollout/messages/exclusions.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { readPlans } from '../plan/read-plans.ts';
import { UsageFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { parseJson } from '../shell/option-values.ts';

/** The fleet and build of a rehearsal. */
export interface RehearsedFleet {
  readonly targetBuild: string;
  readonly snapshot: FleetSnapshot;
  /** The builds that the service offers; absent: unknown. */
  readonly builds?: readonly string[];
  /** Other policies of the account, each with its build and the collectors to which that is offered. */
  readonly others: ReadonlyArray<Omit<OtherPolicy, 'startsAt'>>;
}

/** Limit for the file: 10,000 collectors with many fields take 20 MB. */
const fileBytesMax = 200 * 1024 * 1024;

const FleetFile = z.object({ collectors: z.array(z.unknown()) });

/**
 * Reads the fleet from the service, or from a file that `collectors list --json` wrote.
 * @throws CommandFailure
 */
export async function readFleet(
  config: Config,
  policy: Policy,
  options: {
    readonly file?: string;
    readonly build?: string;
    readonly at: EpochMs;
    readonly others: readonly Policy[];
  },
  output: Pick<ConsoleOutput, 'err' | 'addSecrets'>,
): Promise<RehearsedFleet> {
  const named = options.build ?? (policy.target.version === 'latest' ? undefined : policy.target.version);
  if (options.file === undefined) {
    const asked = named === undefined ? policy : withTarget(policy, named);
    const [read, ...others] = await readPlans(config, [asked, ...options.others], output);
    invariant(read !== undefined, 'one policy has one plan');
    const { reading } = read;
    if (reading.kind === 'noTarget') throw new UsageFailure(noTargetText(reading.why));
    const { collectors, upgradableIds } = reading.fleet;
    return {
      targetBuild: reading.plan.targetBuild,
      snapshot: { ...fleetAsOf(collectors, options.at), upgradableIds },
      builds: reading.builds,
      others: others.flatMap(({ policy: other, reading: its }) =>
        its.kind === 'noTarget'
          ? []
          : [{ policy: other, targetBuild: its.plan.targetBuild, upgradableIds: its.fleet.upgradableIds }],
      ),
    };
  }
  if (named === undefined)
    throw new UsageFailure('a fleet from a file has no available builds; name the build with --build');
  const snapshot = fleetAsOf(readCollectors(options.file), options.at);
  const { upgradableIds } = snapshot;
  const others = options.others.map((other) => {
    const { version } = other.target;
    return { policy: other, targetBuild: version === 'latest' ? named : version, upgradableIds };
  });
  return { targetBuild: named, snapshot, others };
}

function withTarget(policy: Policy, version: string): Policy {
  return { ...policy, target: { ...policy.target, version } };
}

function readCollectors(path: string) {
  const text = readTextFile(path, fileBytesMax);
  if (typeof text !== 'string') throw new UsageFailure(`${path}: ${text.problem}`);
  const file = FleetFile.safeParse(parseJson(text));
  if (!file.success)
    throw new UsageFailure(
      `${path}: is not a fleet; write one with \`upwave collectors list --json > ${path}\``,
    );
  const rows = file.data.collectors.flatMap((row) => SeenCollector.safeParse(row).data ?? []);
  return rows.filter(isInstalled).map(makeFleetCollectorReader((words) => words));
}
