import type { EpochMs } from '../../../src/base/time.ts';
import type { LivingDaemons } from '../../../src/orchestrator/ports/config-register.ts';
import type { LivingDaemon, PolicyConfig } from '../../../src/rollout/reload/newest-config.ts';
import { accessIdHash, type Host, type ProcessModel } from './process-model.ts';

/**
 * What daemons say of their configs. A living one says it all the while, so that the model asks who lives: a message of
 * each of them every two seconds would be most of a night.
 */
export interface ConfigModel {
  /** A daemon has said for the first time which config it has. */
  appears(config: number): void;
  seenBy(process: ProcessModel): LivingDaemons;
  /** Which config is newest is known by the order in which they came; a store that was emptied has forgotten it. */
  forget(): void;
  /** A daemon has read another config: the others know of it from its next beat on. */
  replace(process: ProcessModel, config: number): void;
  /** undefined: nobody has said anything yet. */
  newest(): number | undefined;
}

export function makeConfigModel(
  /** The names of the policies of a config. */
  policiesOf: (config: number) => readonly string[],
  living: () => readonly ProcessModel[],
  beatAtOf: (process: ProcessModel) => EpochMs,
): ConfigModel {
  const generations = new Map<number, number>();
  let latest = 0;
  const renew = (config: number): void => {
    latest += 1;
    generations.set(config, latest);
  };
  const appears = (config: number): void => {
    if (!generations.has(config)) renew(config);
  };
  /** What daemons whose config was read anew said last. */
  const before = new Map<ProcessModel, number>();
  const configOf = (process: ProcessModel): number => before.get(process) ?? process.host.config;
  const said = (config: number): readonly PolicyConfig[] =>
    policiesOf(config).map((policy) => ({
      policy,
      hash: String(config),
      generation: generations.get(config) ?? 0,
    }));
  return {
    appears,
    replace: (process, config) => {
      before.set(process, configOf(process));
      process.setConfig(config);
    },
    seenBy: (process) => {
      const former = before.get(process);
      before.delete(process);
      // One that a reload brings back is the newest again.
      if (former !== undefined && former !== process.host.config) renew(process.host.config);
      appears(process.host.config);
      const others = living().filter((each) => each !== process);
      for (const other of others) appears(configOf(other));
      return {
        own: said(process.host.config),
        account: nameOf(process.host),
        beatAt: beatAtOf(process),
        others: others.map(
          (other): LivingDaemon => ({
            beatAt: beatAtOf(other),
            followsSchedule: true,
            account: nameOf(other.host),
            configs: said(configOf(other)),
          }),
        ),
      };
    },
    forget: () => generations.clear(),
    newest: () => [...generations].toSorted(([, a], [, b]) => b - a)[0]?.[0],
  };
}

/** The name that a policy had first: its schedule stays the same. */
export function slotOf(policy: string): string {
  return policy.split('-')[0] ?? policy;
}

function nameOf({ account, accessKey }: Host): string {
  return accessIdHash(account, accessKey);
}
