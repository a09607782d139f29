import type { Sleep } from '../base/sleep.ts';
import type { DurationMs } from '../base/time.ts';
import { type ConfigStanding, configWords, judgeConfig } from '../rollout/newest-config.ts';
import type { ConfigRegister, LivingDaemons } from './ports/config-register.ts';
import type { EventSink } from './ports/event-sink.ts';

/** Whether this daemon has the newest config of each policy: only then may it scan and plan the policy (P5). */
export interface Configs {
  /** As it is at this instant. */
  check(policy: string): Promise<ConfigStanding>;
  /** As it was at the last check or beat; nothing where all agreed. */
  standings(): ReadonlyMap<string, ConfigStanding>;
  /** Who lived at the last check or beat. */
  living(): Pick<LivingDaemons, 'account' | 'others'>;
  /** Says that this daemon lives, and judges all its policies anew. */
  beat(): Promise<void>;
}

/** Judges the config of this daemon by what living daemons say, and tells when that has changed. */
export function makeConfigs({
  register,
  sink,
}: {
  readonly register: Pick<ConfigRegister, 'beat'>;
  readonly sink: EventSink;
}): Configs {
  let living: LivingDaemons = { own: [], account: '', others: [] };
  let standings: ReadonlyMap<string, ConfigStanding> = new Map();
  const beat = async (): Promise<void> => {
    living = await register.beat();
    const { own, others } = living;
    const judged = own.map((config) => [config.policy, judgeConfig(config, others)] as const);
    const before = standings;
    standings = new Map(judged.filter(([, { kind }]) => kind !== 'agreed'));
    for (const [policy, standing] of judged) {
      const was = before.get(policy)?.kind ?? 'agreed';
      if (was === standing.kind) continue;
      const reason = configWords(policy, standing) ?? `all daemons have the same config of ${policy} again`;
      sink.note({ event: `config.${eventOf[standing.kind]}`, policy, reason });
    }
  };
  return {
    beat,
    check: async (policy) => {
      await beat();
      return standings.get(policy) ?? agreed;
    },
    standings: () => standings,
    living: () => living,
  };
}

const agreed: ConfigStanding = { kind: 'agreed', others: 0 };

const eventOf = { agreed: 'agreed', newest: 'differs', outdated: 'outdated' } as const;

// A daemon is taken for gone after five of these.
const beatEveryMs: DurationMs = 2_000;

/** Keeps saying that this daemon lives, until the signal is aborted; Redis may keep a beat waiting for as long as it is away. */
export async function keepBeating(
  configs: Pick<Configs, 'beat'>,
  {
    register,
    sink,
    sleep,
  }: { readonly register: Pick<ConfigRegister, 'leave'>; readonly sink: EventSink; readonly sleep: Sleep },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await configs.beat();
    } catch (error) {
      // Redis away, or refusing: what was judged last stands, and each scan asks anew.
      if (!signal.aborted) sink.note({ event: 'reconcile.failed', rollout: '', error });
    }
    await sleep(beatEveryMs, signal);
  }
  // Else the others would wait some seconds for it; where Redis is away, they do.
  await register
    .leave()
    .catch((error: unknown) => sink.note({ event: 'reconcile.failed', rollout: '', error }));
}
