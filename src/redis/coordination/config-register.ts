import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { DurationMs } from '../../base/time.ts';
import type { ConfigRegister, NamedConfig } from '../../orchestrator/ports/config-register.ts';
import type { SettingHash } from '../../rollout/reload/newest-config.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { beatScript } from './scripts.ts';

// Some heartbeats may be lost or late before a daemon counts as gone.
const livesMs: DurationMs = 10_000;

// The oldest generations are dropped first. A running daemon would lose its own only after ten thousand newer configs.
const generationsMax = 10_000;

const heartbeat = z.object({
  daemon: z.string(),
  beatAt: z.number(),
  followsSchedule: z.boolean(),
  account: z.string(),
  // Lua encodes an empty table as an object.
  configs: z.union([
    z.array(z.object({ policy: z.string(), hash: z.string(), generation: z.number() })),
    z.object({}).transform(() => []),
  ]),
  settings: z.array(z.object({ key: z.string(), hash: z.string() })).exactOptional(),
});

/**
 * The running daemons, in a hash beside the leader lease, and the generations of all configs so far.
 * @param own the hash of each policy of the config
 */
export function makeRedisConfigRegister(parts: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  readonly followsSchedule: boolean;
  /** Identifies this daemon's account for the others, without credentials (P12). */
  readonly readAccount: () => Promise<string>;
  readonly own: readonly NamedConfig[];
  /** The rest of the config in force. */
  readonly readSettings: () => readonly SettingHash[];
}): ConfigRegister {
  const { commands, keyPrefix, followsSchedule, readAccount, readSettings } = parts;
  let { own } = parts;
  let renewed: readonly NamedConfig[] = [];
  const keys = { daemons: `${keyPrefix}:{leader}:daemons`, generations: `${keyPrefix}:{leader}:configs` };
  const daemon = randomUUID();
  let hasLeft = false;
  return {
    beat: async () => {
      const account = await readAccount();
      // A heartbeat after `leave` would keep this daemon in the list for ten seconds.
      if (hasLeft) return { account, own: [], beatAt: 0, others: [] };
      const settings = readSettings();
      const body = JSON.stringify({ followsSchedule, account, configs: own, settings });
      const renewing = renewed;
      const renewedConfigs = renewing.map(({ policy, hash }) => `${policy}\n${hash}`);
      const answer = await runScript(commands, beatScript, {
        keys,
        args: { daemon, body, livesMs, generationsMax, renewed: renewedConfigs },
      });
      if (renewed === renewing) renewed = [];
      // Bodies of a newer version with another shape are ignored: it would count its own config as newer in any case.
      const living = answer.flatMap((text) => {
        const read = heartbeat.safeParse(JSON.parse(text));
        return read.success ? [read.data] : [];
      });
      const self = living.find((each) => each.daemon === daemon);
      return {
        account,
        own: self?.configs ?? [],
        beatAt: self?.beatAt ?? 0,
        others: living.filter((each) => each.daemon !== daemon),
        ...(settings === undefined ? {} : { settings }),
      };
    },
    replace: (present) => {
      const before = new Map(own.map(({ policy, hash }) => [policy, hash]));
      renewed = present.filter(({ policy, hash }) => before.get(policy) !== hash);
      own = present;
    },
    leave: async () => {
      hasLeft = true;
      await commands.hdel(keys.daemons, daemon);
    },
  };
}
