import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import { configWords } from '../../rollout/messages/configs.ts';
import type { ConfigWord } from '../../rollout/reload/follow-config.ts';
import { type ConfigStatus, judgeConfig } from '../../rollout/reload/newest-config.ts';
import type { ConfigRegister, LivingDaemons, NamedConfig } from '../ports/config-register.ts';
import type { EventSink } from '../ports/event-sink.ts';

/** Whether this daemon has the newest config of each policy: only then may it scan and plan the policy (P5). */
export interface Configs {
  /** As it is at this instant. */
  check(policy: string): Promise<ConfigStatus>;
  /** As it was at the last check or beat; nothing where all agreed. */
  statuses(): ReadonlyMap<string, ConfigStatus>;
  /**
   * What this daemon's config may say about the brakes of a running rollout, by the last check or beat; undefined
   * where another daemon has a newer config, where this one scans only once beside others, or where that beat is too old to
   * know: a daemon that was suspended must not put back what was changed meanwhile (P4, P7).
   */
  word(policy: string): ConfigWord | undefined;
  /** The config was read again: policies that it says differently are the newest from the next beat on. */
  replace(own: readonly NamedConfig[]): void;
  /** Who lived at the last check or beat. */
  living(): Pick<LivingDaemons, 'account' | 'others'>;
  /** Says that this daemon lives, and judges all its policies again. */
  beat(): Promise<void>;
}

export interface ConfigsParts {
  readonly register: Pick<ConfigRegister, 'beat' | 'replace'>;
  readonly sink: EventSink;
  readonly clock: Clock;
  /** False for `run --once`. True, where left out. */
  readonly followsSchedule?: boolean;
}

// Two beats and a half.
const wordHoldsMs: DurationMs = 5_000;

/** Judges the config of this daemon by what living daemons say, and shows when that has changed. */
export function makeConfigs({ register, sink, clock, followsSchedule = true }: ConfigsParts): Configs {
  let living: LivingDaemons = { own: [], account: '', beatAt: 0, others: [] };
  let statuses: ReadonlyMap<string, ConfigStatus> = new Map();
  let hashes: ReadonlyMap<string, string> = new Map();
  let askedAt: EpochMs = 0;
  /** Since when this daemon says its config of a policy, by the clock of Redis. */
  const saidSince = new Map<string, EpochMs>();
  /** Policies of which another daemon has said a newer config since then: that one stays the newer one when it is gone. */
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
    // Of the config before: the next beat knows how the present one stands to the others.
    if (replaced !== replacedBefore) return;
    living = answer;
    askedAt = beganAt;
    const { own, others, beatAt } = living;
    takeUp(own);
    const judged = own.map((config) => [config.policy, judgeConfig(config, others)] as const);
    const before = statuses;
    statuses = new Map(judged.filter(([, { kind }]) => kind !== 'agreed'));
    for (const config of own) {
      // A daemon that was killed is taken for living ten seconds longer: it may be this one, started again with an older
      // config. It says nothing any more, and whoever does is another one. The clock may be another Redis's, which is behind.
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
      // Read again since the last beat: how it stands to the others is not known yet.
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
