import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorCodeOf } from '../../base/node-errors.ts';
import type { DurationMs } from '../../base/time.ts';
import { StoredWorld } from '../fleet/stored-world.ts';

/** The content of a state file: every account's world, and the service's and real time of the write. */
const ServiceState = z.strictObject({
  format: z.literal('upwave-reference-service'),
  version: z.literal(1),
  /** The seed of the fleet, and of sources that no client has changed. */
  seed: z.string(),
  savedAt: z.strictObject({ serviceMs: z.number(), realMs: z.number(), speed: z.number().positive() }),
  worlds: z.record(z.string(), StoredWorld),
});
export type ServiceState = z.infer<typeof ServiceState>;

/** An unusable state file. It is not modified. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError';
}

/** Identifies a file of this service. */
export const stateFormat = { format: 'upwave-reference-service', version: 1 } as const;

/**
 * Reads a state file.
 * @returns undefined when there is none yet
 * @throws StateFileError when it is unreadable, is no state, or was written for another fleet
 */
export async function readStateFile(path: string, seed: string): Promise<ServiceState | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = errorCodeOf(error) ?? String(error);
    if (code === 'ENOENT') return undefined;
    throw new StateFileError(`${path}: can't be read (${code})`, { cause: error });
  }
  const state = parseState(path, text);
  if (state.seed !== seed) {
    throw new StateFileError(
      `${path}: contains a fleet with the seed "${state.seed}", but the scenario has "${seed}"; use another file`,
    );
  }
  return state;
}

function parseState(path: string, text: string): ServiceState {
  const remedy = 'the file was not changed: repair or remove it';
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new StateFileError(`${path}: is not JSON, or cut off; ${remedy}`, { cause: error });
  }
  const parsed = ServiceState.safeParse(data);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new StateFileError(
    `${path}: is not a state of the reference service (${issue?.path.join('.') || 'top'}: ${issue?.message}); ${remedy}`,
  );
}

/**
 * Writes the whole state to a temporary file and renames it, so that a crash leaves the old or the new one.
 * @throws StateFileError when it can't be written
 */
async function writeStateFile(path: string, state: ServiceState): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, JSON.stringify(state), { flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw new StateFileError(`${path}: can't be written (${errorCodeOf(error) ?? String(error)})`, {
      cause: error,
    });
  }
}

/** The whole state is written, so at most this often, in real time. */
const writeIntervalMs: DurationMs = 1_000;

interface StateKeeperParts {
  readonly path: string;
  readonly state: () => ServiceState;
  /** Waits in real time; returns at once when the service closes. */
  readonly wait: (durationMs: DurationMs) => Promise<void>;
  /** Called for each failed write. The next attempt follows the next change, and the close. */
  readonly onFailure: (error: StateFileError) => void;
}

/** Writes a state file soon after each change and at the end, never twice at once. */
export class StateKeeper {
  readonly #parts: StateKeeperParts;
  #isChanged = false;
  #isClosing = false;
  #writing: Promise<void> | undefined;

  constructor(parts: StateKeeperParts) {
    this.#parts = parts;
  }

  noteChange(): void {
    this.#isChanged = true;
    this.#writing ??= this.#writeWhileChanging();
  }

  /** Writes the final state. @throws StateFileError */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#writing;
    await this.write();
  }

  /** A first write shows that the file is writable. @throws StateFileError */
  write(): Promise<void> {
    return writeStateFile(this.#parts.path, this.#parts.state());
  }

  async #writeWhileChanging(): Promise<void> {
    while (this.#isChanged && !this.#isClosing) {
      await this.#parts.wait(writeIntervalMs);
      this.#isChanged = false;
      try {
        await this.write();
      } catch (error) {
        this.#parts.onFailure(error as StateFileError);
        break;
      }
    }
    this.#writing = undefined;
  }
}
