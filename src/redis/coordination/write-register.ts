import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { DurationMs } from '../../base/time.ts';
import type { WriteRegister } from '../../orchestrator/ports/write-register.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { reportWritesScript } from './scripts.ts';

// A daemon that is silent for longer makes its next intent only after a new report.
const keptMs: DurationMs = 600_000;

const reportBody = z.object({ question: z.string(), confirms: z.array(z.string()) });

/** The reports of all daemons about their writes, in a hash. All keys must be in one Redis, so a Cluster has none. */
export function makeRedisWriteRegister(parts: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): WriteRegister {
  const { commands, keyPrefix } = parts;
  const keys = { reports: `${keyPrefix}:{leader}:writes` };
  const daemon = randomUUID();
  return {
    report: async ({ number, question, confirms }) => {
      const body = JSON.stringify({ question, confirms });
      const [before, texts] = await runScript(commands, reportWritesScript, {
        keys,
        args: { daemon, number, body, keptMs },
      });
      const others = texts.flatMap((name, at) => {
        if (at % 2 === 1) return [];
        const read = reportBody.safeParse(JSON.parse(texts[at + 1] ?? 'null'));
        // A body of a newer version confirms nothing, so its daemon is waited for.
        return [{ daemon: name, ...(read.success ? read.data : { question: '', confirms: [] }) }];
      });
      return { before, others };
    },
    leave: async () => {
      await commands.hdel(keys.reports, daemon);
    },
  };
}
