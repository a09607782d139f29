import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import { configWords } from '../../rollout/messages/configs.ts';
import type { ConfigWord } from '../../rollout/reload/follow-config.ts';
import { type ConfigStatus, judgeConfig } from '../../rollout/reload/newest-config.ts';
import type { ConfigRegister, LivingDaemons, NamedConfig } from '../ports/config-register.ts';
import type { EventSink } from '../ports/event-sink.ts';

/** Whether this daemon has the newest config of each policy: only then may it scan and plan the policy (P5). */
export interface Configs {
  /** The status at this instant. */
  check(policy: string): Promise<ConfigStatus>;
  /** The status at the last check or beat; undefined where all agreed. */
  statuses(): ReadonlyMap<string, ConfigStatus>;
  /**
   * The generation by which this daemon's config may set the limits of a running rollout, by the last check or beat.
   * undefined where another daemon has a newer config, where this one scans only once beside others, or where that beat is
   * too old: a suspended daemon must not undo later changes (P4, P7).
   */
  word(policy: string): ConfigWord | undefined;
  /** The config was read again. From the next beat on, the policies that it changes are the newest. */
  replace(own: readonly NamedConfig[]): void;
  /** The daemons that were alive at the last check or beat. */
  living(): Pick<LivingDaemons, 'account' | 'others'>;
  /** Reports that this daemon is alive, and judges all its policies again. */
  beat(): Promise<void>;
}

export interface ConfigsParts {
  readonly register: Pick<ConfigRegister, 'beat' | 'replace'>;
  readonly sink: EventSink;
  readonly clock: Clock;
  /** False for `run --once`. Default: true. */
  readonly followsSchedule?: boolean;
}

// Two beats and a half.
const wordHoldsMs: DurationMs = 5_000;

/** Compares the config of this daemon with those of living daemons, and reports changes. */
export function makeConfigs({ register, sink, clock, followsSchedule = true }: ConfigsParts): Configs {
  let living: LivingDaemons = { own: [], account: '', beatAt: 0, others: [] };
  let statuses: ReadonlyMap<string, ConfigStatus> = new Map();
  let hashes: ReadonlyMap<string, string> = new Map();
  let askedAt: EpochMs = 0;
  /** Since when this daemon has its config of a policy, by the clock of Redis. */
  const saidSince = new Map<string, EpochMs>();
  /** Policies with a newer config of another daemon since then. That config stays the newer one after the daemon has gone. */
  const overtaken = new Set<string>();
  const takeUp = (own: readonly NamedConfig[]): void => {
    for (const { policy, hash } of own) {
      if (hashes.get(policy) === hash) continue;
      saidSince.delete(policy);
      overtaken.delete(policy);
    }
    hashes = new Map(own.map(({ policy, hash }) => [policy, hash]));
  };
  let replaced = 0;
  const beat = async (): Promise<void> => {
    const beganAt = clock.now();
    const replacedBefore = replaced;
    const answer = await register.beat();
    // The finding is about the previous config. The next beat compares the present one.
    if (replaced !== replacedBefore) return;
    living = answer;
    askedAt = beganAt;
    const { own, others, beatAt } = living;
    takeUp(own);
    const judged = own.map((config) => [config.policy, judgeConfig(config, others)] as const);
    const before = statuses;
    statuses = new Map(judged.filter(([, { kind }]) => kind !== 'agreed'));
    for (const config of own) {
      // A killed daemon counts as alive for ten more seconds. It may be this one, started again with an older config: it beats
      // no longer, while another daemon would. The clock may be that of another Redis, which is behind.
      const since = Math.min(saidSince.get(config.policy) ?? beatAt, beatAt);
      saidSince.set(config.policy, since);
      const speaking = others.filter((other) => other.beatAt > since);
      if (judgeConfig(config, speaking).kind === 'outdated') overtaken.add(config.policy);
    }
    for (const [policy, status] of judged) {
      const was = before.get(policy)?.kind ?? 'agreed';
      if (was === status.kind) continue;
      const reason = configWords(policy, status) ?? `all daemons have the same config of ${policy} again`;
      sink.note({ event: `config.${eventOf[status.kind]}`, policy, reason });
    }
  };
  return {
    beat,
    check: async (policy) => {
      await beat();
      return statuses.get(policy) ?? agreed;
    },
    statuses: () => statuses,
    word: (policy) => {
      if (Math.abs(clock.now() - askedAt) > wordHoldsMs) return undefined;
      const { kind } = statuses.get(policy) ?? agreed;
      const own = living.own.find((config) => config.policy === policy);
      // The config was read again since the last beat, and has not been compared yet.
      if (own === undefined || own.hash !== hashes.get(policy)) return undefined;
      if (kind === 'outdated' || (!followsSchedule && kind !== 'agreed')) return undefined;
      return { generation: own.generation, isTakenUp: !overtaken.has(policy) };
    },
    replace: (own) => {
      replaced += 1;
      register.replace(own);
      takeUp(own);
    },
    living: () => living,
  };
}

const agreed: ConfigStatus = { kind: 'agreed', others: 0 };

const eventOf = { agreed: 'agreed', newest: 'differs', outdated: 'outdated' } as const;
