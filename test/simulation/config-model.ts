import type { LivingDaemons } from '../../src/orchestrator/ports/config-register.ts';
import type { LivingDaemon, PolicyConfig } from '../../src/rollout/newest-config.ts';
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
  isNewest(config: number): boolean;
}

export function makeConfigModel(
  policies: readonly string[],
  living: () => readonly ProcessModel[],
): ConfigModel {
  const generations = new Map<number, number>();
  const appears = (config: number): void => {
    if (!generations.has(config)) generations.set(config, generations.size + 1);
  };
  const said = (config: number): readonly PolicyConfig[] =>
    policies.map((policy) => ({ policy, hash: String(config), generation: generations.get(config) ?? 0 }));
  return {
    appears,
    seenBy: (process) => {
      appears(process.host.config);
      const others = living().filter((each) => each !== process);
      for (const { host } of others) appears(host.config);
      return {
        own: said(process.host.config),
        account: nameOf(process.host),
        others: others.map(
          ({ host }): LivingDaemon => ({
            followsSchedule: true,
            account: nameOf(host),
            configs: said(host.config),
          }),
        ),
      };
    },
    forget: () => generations.clear(),
    isNewest: (config) => (generations.get(config) ?? 0) >= Math.max(0, ...generations.values()),
  };
}

function nameOf({ account, accessKey }: Host): string {
  return accessIdHash(account, accessKey);
}
