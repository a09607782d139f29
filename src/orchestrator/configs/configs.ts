import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import { configText, healthyConfigText, settingsText } from '../../rollout/messages/config-texts.ts';
import type { ConfigVersion } from '../../rollout/reload/follow-config.ts';
import {
  type ConfigStatus,
  compareSettings,
  judgeConfig,
  type SettingsDifference,
} from '../../rollout/reload/newest-config.ts';
import type { ConfigRegister, LivingDaemons, NamedConfig } from '../ports/config-register.ts';
import type { EventSink } from '../ports/event-sink.ts';

export type Configs = ReturnType<typeof makeConfigs>;

export interface ConfigsParts {
  readonly register: Pick<ConfigRegister, 'beat' | 'replace'>;
  readonly sink: EventSink;
  readonly clock: Clock;
  /** False for `run --once`. */
  readonly followsSchedule: boolean;
}

// Two and a half beats.
const beatValidForMs: DurationMs = 5_000;

// A daemon counts as alive for ten seconds after its last beat, so a shorter silence of ours misses no newer config.
const silenceMaxMs: DurationMs = 10_000;

/**
 * Tracks whether this daemon has the newest config of each policy, by comparing it with those of the other running daemons,
 * and reports changes. Only with the newest config may it scan and plan the policy (P5).
 */
export function makeConfigs({ register, sink, clock, followsSchedule }: ConfigsParts) {
  let living: LivingDaemons = { own: [], account: '', beatAt: 0, others: [] };
  let statuses: ReadonlyMap<string, ConfigStatus> = new Map();
  let hashes: ReadonlyMap<string, string> = new Map();
  let askedAt: EpochMs = 0;
  let settings: SettingsDifference | undefined;
  /** Since when this daemon has reported its config of a policy, by the clock of Redis. */
  const reportedSince = new Map<string, EpochMs>();
  /** Policies for which another daemon had a newer config since then, or may have had one while this daemon was silent. */
  const superseded = new Set<string>();
  const adopt = (own: readonly NamedConfig[]): void => {
    const adopted = new Map(own.map(({ policy, hash }) => [policy, hash]));
    for (const [policy, hash] of hashes) {
      if (adopted.get(policy) === hash) continue;
      reportedSince.delete(policy);
      superseded.delete(policy);
    }
    hashes = adopted;
  };
  let replaced = 0;
  const beat = async (): Promise<void> => {
    const beganAt = clock.now();
    const replacedBefore = replaced;
    const answer = await register.beat();
    // This answer is about the previous config. The next beat compares the current one.
    if (replaced !== replacedBefore) return;
    living = answer;
    const isBackAfterSilence = askedAt > 0 && beganAt - askedAt > silenceMaxMs;
    askedAt = beganAt;
    const { own, others, beatAt } = living;
    adopt(own);
    // A config that was read since is not the one that was silent.
    if (isBackAfterSilence) for (const policy of reportedSince.keys()) superseded.add(policy);
    const judged = own.map((config) => [config.policy, judgeConfig(config, others)] as const);
    const before = statuses;
    statuses = new Map(judged.filter(([, { kind }]) => kind !== 'agreed'));
    for (const config of own) {
      // A killed daemon counts as alive for ten more seconds. It may be this daemon before a restart with an older config,
      // so only daemons that have sent a beat since then count. After a fail-over the clock of Redis may be behind.
      const since = Math.min(reportedSince.get(config.policy) ?? beatAt, beatAt);
      reportedSince.set(config.policy, since);
      const active = others.filter((other) => other.beatAt > since);
      if (judgeConfig(config, active).kind === 'outdated') superseded.add(config.policy);
    }
    for (const [policy, status] of judged) {
      const was = before.get(policy)?.kind ?? 'agreed';
      if (was === status.kind) continue;
      const reason = configText(policy, status) ?? healthyConfigText.policy(policy);
      sink.note({ event: `config.${eventOf[status.kind]}`, policy, reason });
    }
    noteSettings(compareSettings(living.settings ?? [], others));
  };
  const noteSettings = (now: SettingsDifference | undefined): void => {
    const [before, after] = [settings, now].map((each) => each && settingsText(each));
    settings = now;
    if (before === after) return;
    if (after === undefined) sink.note({ event: 'config.settingsAgree', reason: healthyConfigText.settings });
    else sink.note({ event: 'config.settingsDiffer', reason: after });
  };
  return {
    /** Reports that this daemon is alive, and compares all its policies again. */
    beat,
    /** Sends a beat and returns the current status of a policy. */
    check: async (policy: string): Promise<ConfigStatus> => {
      await beat();
      return statuses.get(policy) ?? agreed;
    },
    /** The statuses at the last beat, without policies on which all daemons agree. */
    statuses: (): ReadonlyMap<string, ConfigStatus> => statuses,
    /** How the config outside of the policies differed at the last beat; undefined if all daemons agree. */
    settings: (): SettingsDifference | undefined => settings,
    /**
     * The version of this daemon's config, if it may set the limits of a running rollout. Undefined if another daemon has a
     * newer config, if this daemon scans only once beside others, or if the last beat is too old: a suspended daemon must
     * not revert later changes (P4, P7).
     */
    versionOf: (policy: string): ConfigVersion | undefined => {
      if (Math.abs(clock.now() - askedAt) > beatValidForMs) return undefined;
      const { kind } = statuses.get(policy) ?? agreed;
      const own = living.own.find((config) => config.policy === policy);
      // The config was reloaded since the last beat, and has not been compared yet.
      if (own === undefined || own.hash !== hashes.get(policy)) return undefined;
      if (kind === 'outdated' || (!followsSchedule && kind !== 'agreed')) return undefined;
      return { generation: own.generation, isReinstated: !superseded.has(policy) };
    },
    /** Replaces the config after a reload. The changed policies are the newest from the next beat on. */
    replace: (own: readonly NamedConfig[]): void => {
      replaced += 1;
      register.replace(own);
      adopt(own);
    },
    /** The daemons that were alive at the last beat. */
    living: (): Pick<LivingDaemons, 'account' | 'others'> => living,
  };
}

const agreed: ConfigStatus = { kind: 'agreed', others: 0 };

const eventOf = { agreed: 'agreed', newest: 'differs', outdated: 'outdated' } as const;
