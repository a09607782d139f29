import { z } from 'zod';
import { starterText } from '../../rollout/messages/sentences.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showInstant } from '../shell/show-instant.ts';

/** The fields of a log line that are shown to people. */
const Line = z.object({
  level: z.string(),
  time: z.iso.datetime(),
  event: z.string(),
  version: z.string().optional(),
  account: z.string().optional(),
  policy: z.string().optional(),
  rollout: z.string().optional(),
  wave: z.string().optional(),
  collectorName: z.string().optional(),
  receiver: z.string().optional(),
  by: z.string().optional(),
  reason: z.string().optional(),
  error: z.object({ message: z.string() }).optional(),
});

// The names of frequent events fit. A longer name shifts only its own line.
const eventWidth = 20;

const colors = { error: 'red', warn: 'yellow' } as const;

/** A log for a terminal: when, what, which collector, why. Elsewhere each line stays JSON. */
export function readableLog(output: Pick<ConsoleOutput, 'out' | 'paint'>): { write(line: string): void } {
  return {
    write: (line) => {
      const read = Line.safeParse(JSON.parse(line));
      output.out.write(read.success ? `${readable(read.data, output)}\n` : line);
    },
  };
}

function readable(line: z.infer<typeof Line>, { paint }: Pick<ConsoleOutput, 'paint'>): string {
  const { level, event, version, account, policy, rollout, wave, collectorName, receiver, by } = line;
  const at = Date.parse(line.time);
  const about = [
    account,
    rollout ?? policy,
    wave === undefined ? undefined : `wave ${wave}`,
    collectorName,
    receiver,
    by === undefined || by === 'daemon' ? undefined : `by ${starterText(by)}`,
  ].filter((part) => part !== undefined);
  const words = [about.join(', '), line.reason ?? line.error?.message ?? version ?? ''];
  const name = event.padEnd(eventWidth);
  const color = level === 'error' || level === 'warn' ? colors[level] : undefined;
  const said = words.filter((part) => part !== '').join(': ');
  return `${showInstant(at, at)}  ${color === undefined ? name : paint(color, name)}  ${said}`.trimEnd();
}
