import { createWriteStream, openSync } from 'node:fs';
import type { LoggerParts } from '../../observability/logger.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { fileFailure } from '../shell/write-lines.ts';

export type LogDestination = NonNullable<LoggerParts['destination']>;

/** The default log file. */
export const noLog: LogDestination = { write: () => undefined };

/**
 * Opens a file to which the log is appended. A later write error is reported once, because a full disk must not stop
 * upgrades.
 * @throws CommandFailure when the file cannot be opened
 */
export function openLogFile(path: string, { err }: Pick<ConsoleOutput, 'err'>): LogDestination {
  const stream = createWriteStream(path, { fd: openToAdd(path) });
  stream.once('error', (error: NodeJS.ErrnoException) =>
    err.write(`the log ${path} can no longer be written: ${error.code ?? error.message}\n`),
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
