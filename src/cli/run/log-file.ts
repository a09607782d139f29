import { createWriteStream, openSync } from 'node:fs';
import type { LoggerParts } from '../../observability/logger.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { fileFailure } from '../shell/write-lines.ts';

export type LogDestination = NonNullable<LoggerParts['destination']>;

/** Where a log goes that nobody asked for. */
export const noLog: LogDestination = { write: () => undefined };

/**
 * Opens a file for the log, which is added to. When it can't be written later on, that is said once: a full disk stops no
 * upgrade.
 * @throws CommandFailure when it can't be opened
 */
export function openLogFile(path: string, { err }: Pick<ConsoleOutput, 'err'>): LogDestination {
  const stream = createWriteStream(path, { fd: openToAdd(path) });
  stream.once('error', (error: NodeJS.ErrnoException) =>
    err.write(`the log ${path} can't be written any more: ${error.code ?? error.message}\n`),
  );
  return {
    write: (line) => {
      if (!stream.destroyed) stream.write(line);
    },
  };
}

function openToAdd(path: string): number {
  try {
    return openSync(path, 'a');
  } catch (error) {
    throw fileFailure(error, (why) => `cannot write the log ${path}: ${why}`);
  }
}
