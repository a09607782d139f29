import pino from 'pino';
import { toPrintable } from '../base/safe-text.ts';
import { makeRedactor, type Redact } from './redactor.ts';

/** `error`: someone must act; `warn`: it healed itself; `info`: one line per fact; `debug`: per pass and per step. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** One event as fields; absent ones are left out of the line (DESIGN §5, Log). */
export interface LogFields {
  /** Dotted, past tense: `upgrade.succeeded`. */
  readonly event: string;
  /** The version of this program. */
  readonly version?: string | undefined;
  /** The account, where the daemon has several. */
  readonly account?: string | undefined;
  readonly policy?: string | undefined;
  readonly rollout?: string | undefined;
  readonly wave?: string | undefined;
  readonly build?: string | undefined;
  /** The receiver of a notification. */
  readonly receiver?: string | undefined;
  readonly notice?: string | undefined;
  readonly collectorId?: number | undefined;
  readonly group?: string | undefined;
  readonly collectorName?: string | undefined;
  readonly taskId?: string | undefined;
  readonly attempt?: number | undefined;
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly failureClass?: string | undefined;
  readonly reasonKind?: string | undefined;
  /** The error that was thrown. */
  readonly error?: unknown;
}

export interface Logger {
  write(level: LogLevel, fields: LogFields): void;
}

export interface LoggerParts {
  readonly level: LogLevel | 'silent';
  /** Values that must never be printed (P12): access key, token, `<accessId>:<accessKey>`, Redis password. */
  readonly secrets: readonly string[];
  /** null: stdout. */
  readonly destination: { write(line: string): void } | null;
}

/** A log to which secrets can be added later. */
export interface RedactingLogger extends Logger {
  /** Adds values that must never be printed. */
  addSecrets(secrets: readonly string[]): void;
}

/** Makes the log: one JSON object a line, with no secret and no control character in it. */
export function makeLogger(parts: LoggerParts): RedactingLogger {
  const known = new Set(parts.secrets);
  let redact = makeRedactor([...known]);
  const clean = makeCleaner((text) => redact(text));
  const options: pino.LoggerOptions = {
    level: parts.level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: clean },
  };
  // Written synchronously, because the last lines before a crash matter most.
  const log = pino(options, parts.destination ?? pino.destination({ fd: 1, sync: true }));
  return {
    write: (level, fields) => log[level](fields),
    addSecrets: (secrets) => {
      for (const secret of secrets) known.add(secret);
      redact = makeRedactor([...known]);
    },
  };
}

/** Deeper values are cut: log lines are flat, and a cycle must not hang the daemon. */
const depthMax = 5;
const itemsMax = 50;
const textLengthMax = 4_000;

/** Names of fields with secrets, at any depth. pino's own `redact` supports only fixed paths and one case. */
const secretName = /authorization|cookie|password|passwd|access-?key|api-?key|secret|token$/i;

/** Makes a copy of the fields that is safe to print. */
function makeCleaner(redact: Redact): (fields: Record<string, unknown>) => Record<string, unknown> {
  // Redacted before it is cut, so that no part of a secret remains at the end.
  const cleanText = (text: string) => toPrintable(redact(text).slice(0, textLengthMax));

  const cleanFields = (fields: object, depth: number): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(fields)
        .filter(([, value]) => value !== undefined)
        .slice(0, itemsMax)
        .map(([name, value]) => [
          cleanText(name),
          secretName.test(name) ? '[redacted]' : cleanValue(value, depth + 1),
        ]),
    );

  const cleanValue = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return cleanText(value);
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
    if (typeof value !== 'object') return typeof value === 'bigint' ? String(value) : `[${typeof value}]`;
    if (depth > depthMax) return '[cut]';
    if (value instanceof Error) return cleanError(value, depth);
    if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => cleanValue(item, depth + 1));
    return cleanFields(value, depth);
  };

  /** Copies only these fields, because errors of HTTP libraries contain whole requests with their headers. */
  const cleanError = (error: Error, depth: number): Record<string, unknown> => {
    const { kind, code } = error as { kind?: unknown; code?: unknown };
    return {
      type: cleanText(error.name),
      message: cleanText(error.message),
      ...(typeof kind === 'string' && { kind: cleanText(kind) }),
      ...(typeof code === 'string' && { code: cleanText(code) }),
      // A stack keeps its lines.
      stack: redact(error.stack ?? '')
        .slice(0, textLengthMax)
        .split('\n')
        .map(toPrintable)
        .join('\n'),
      ...(error.cause !== undefined && { cause: cleanValue(error.cause, depth + 1) }),
    };
  };

  return (fields) => cleanFields(fields, 0);
}
