import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { configWords } from '../../rollout/messages/configs.ts';
import type { Policy, PolicyDifference } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { type ConfigWord, followConfig, withPresentBrakes } from '../../rollout/reload/follow-config.ts';
import { type ConfigStatus, judgeConfig } from '../../rollout/reload/newest-config.ts';
import type { ConfigRegister, LivingDaemons, NamedConfig } from '../ports/config-register.ts';
import type { EventSink } from '../ports/event-sink.ts';
import { type ChangeRolloutParts, stopRollout } from '../records/change-rollout.ts';

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

// A daemon is taken for gone after five of these.
const beatEveryMs: DurationMs = 2_000;

/** Keeps saying that this daemon lives, until the signal is aborted; Redis may keep a beat waiting for as long as it is away. */
export async function keepBeating(
  configs: Pick<Configs, 'beat'>,
  {
    register,
    sink,
    sleep,
    afterBeat,
  }: {
    readonly register: Pick<ConfigRegister, 'leave'>;
    readonly sink: EventSink;
    readonly sleep: Sleep;
    /** What is to be done by what the beat has shown. */
    readonly afterBeat: () => Promise<unknown>;
  },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await configs.beat();
      await afterBeat();
    } catch (error) {
      // Redis away, or refusing: what was judged last stands, and each scan asks again.
      if (!signal.aborted) sink.note({ event: 'reconcile.failed', rollout: '', error });
    }
    await sleep(beatEveryMs, signal);
  }
  // Else the others would wait some seconds for it; where Redis is away, they do.
  await register
    .leave()
    .catch((error: unknown) => sink.note({ event: 'reconcile.failed', rollout: '', error }));
}

export interface FollowConfigsParts extends ChangeRolloutParts {
  readonly configs: Pick<Configs, 'word' | 'beat'>;
  /** The policies of the present config: one list, which a reload changes. */
  readonly rollouts: readonly Policy[];
}

/** How a running rollout stands to the present config. */
export interface FollowedConfig {
  readonly rollout: string;
  /** Changed by this call, and in force when it returns. */
  readonly followed: readonly PolicyDifference[];
  /** Left to the next rollout. */
  readonly waiting: readonly PolicyDifference[];
}

/**
 * Brings the brakes of the present config to the running rollouts: after a reload, at start, and with each beat, so
 * that a daemon which was away brings them, too. The record keeps them, so that every daemon acts alike. When it returns, no
 * create leaves any more that only the former brakes allowed.
 */
export async function followConfigs(
  parts: FollowConfigsParts,
  by: string,
): Promise<readonly FollowedConfig[]> {
  const all: FollowedConfig[] = [];
  for (const policy of parts.rollouts.map(({ name }) => name)) {
    for (const rolloutId of await parts.store.activeRolloutIds([policy])) {
      const followed = await followRollout(parts, { policy, rolloutId, by });
      if (followed !== undefined) all.push(followed);
    }
  }
  return all;
}

/**
 * The same for one rollout, which may be over and about to run again.
 * @returns undefined where this daemon's config says nothing about it
 */
export async function followRollout(
  parts: FollowConfigsParts,
  { policy, rolloutId, by }: { readonly policy: string; readonly rolloutId: string; readonly by: string },
): Promise<FollowedConfig | undefined> {
  let followed: readonly PolicyDifference[] = [];
  // Again until the record shows it: whoever was suspended on the way had nothing to say any more.
  for (;;) {
    const before = await parts.store.loadRollout(rolloutId);
    const config = parts.rollouts.find(({ name }) => name === policy);
    if (before === undefined || config === undefined) return undefined;
    // Of another account, its policy is another one that has the same name (P5).
    const account = await parts.accounts?.statusOf(before);
    if (account !== undefined && account.kind !== 'own') return undefined;
    const present = withPresentBrakes(before, config);
    // Asked once more now that the record is read: a daemon says that it has a newer config before it writes by it.
    if (present.followed.length > 0) await parts.configs.beat();
    if (parts.configs.word(policy) === undefined) return undefined;
    // Asked again for each reading of the record and with the present config, which may have changed meanwhile.
    const judge = (rollout: Rollout) => {
      const word = parts.configs.word(policy);
      const now = parts.rollouts.find(({ name }) => name === policy);
      if (word === undefined || now === undefined) return undefined;
      const isTakenUp = word.isTakenUp && rollout.config?.generation === before.config?.generation;
      return followConfig(rollout, { config: now, word: { ...word, isTakenUp }, at: parts.clock.now() });
    };
    if (judge(before) === undefined) return { rollout: rolloutId, followed, waiting: present.waiting };
    await stopRollout(parts, rolloutId, by, (view) => judge(view.rollout));
    followed = present.followed;
  }
}
