import type { ReadinessCheck } from '../admin-api/readiness.ts';
import type { Configs } from '../orchestrator/configs.ts';
import type { ReloadStanding } from '../orchestrator/reload.ts';
import { configWords } from '../rollout/newest-config.ts';

/**
 * Whether the config file is without a mistake, and living daemons agree about the policies. Ready all the same: this daemon
 * works by the config that it read last without a mistake, and each deploy passes through different ones for a while.
 */
export function configReadiness(
  configs: Pick<Configs, 'standings'>,
  { at, problem }: ReloadStanding,
): ReadinessCheck {
  if (problem !== undefined) {
    const reason = `the config file has mistakes, so this daemon works by the config that it read before: ${problem}`;
    return { ok: true, kind: 'refused', since: at, reason };
  }
  const words = [...configs.standings()].flatMap(([policy, standing]) => configWords(policy, standing) ?? []);
  const reason = words.length === 0 ? 'all daemons have the same config of each policy' : words.join('; ');
  return { ok: true, reason };
}
