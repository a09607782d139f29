import type { ReadinessCheck } from '../admin-api/readiness.ts';
import type { Configs } from '../orchestrator/configs.ts';
import { configWords } from '../rollout/newest-config.ts';

/** Whether living daemons agree about the policies. Ready all the same: each deploy passes through this for a while. */
export function configReadiness(configs: Pick<Configs, 'standings'>): ReadinessCheck {
  const words = [...configs.standings()].flatMap(([policy, standing]) => configWords(policy, standing) ?? []);
  const reason = words.length === 0 ? 'all daemons have the same config of each policy' : words.join('; ');
  return { ok: true, reason };
}
