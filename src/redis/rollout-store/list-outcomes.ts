import type { Outcomes } from '../../rollout/model/shared-attribute.ts';
import type { RedisCommands } from '../connection/connection.ts';
import type { RolloutKeys } from '../schema/rollout-keys.ts';

/**
 * Who failed and who was upgraded, without reading a record: whoever of the plan neither waits, nor runs, nor was missed
 * was upgraded. Read in the order in which an upgrade moves on, so that one that moves meanwhile is found where it was;
 * retrying ones, who go back, are read twice.
 */
export async function listOutcomes(commands: RedisCommands, keys: RolloutKeys): Promise<Outcomes> {
  const idsIn = (key: string) => commands.zrange(key, '0', '-1');
  const [pending, retries, due, retriesAgain, failed, withdrawn, all] = await Promise.all([
    idsIn(keys.pending),
    idsIn(keys.retries),
    idsIn(keys.due),
    idsIn(keys.retries),
    commands.zrangebyscore(keys.missed, '0', '+inf'),
    commands.zrangebyscore(keys.missed, '-inf', '(0'),
    idsIn(keys.order),
  ]);
  const retrying = [...retries, ...retriesAgain].map((name) => name.slice(0, name.indexOf(':')));
  const others = new Set([...pending, ...retrying, ...due, ...failed, ...withdrawn]);
  return {
    failed: new Set(failed.map(Number)),
    succeeded: new Set(all.filter((id) => !others.has(id)).map(Number)),
  };
}
