import type { DurationMs } from '../base/time.ts';
import { type ServiceState, type StateFileError, writeStateFile } from './state-file.ts';

/** A state is written whole, so not more often than this, in real time. */
const writeIntervalMs: DurationMs = 1_000;

/** Keeps a state file up with what changes: soon after a change, never two writes at once, and at the end. */
export class StateKeeper {
  readonly #path: string;
  readonly #state: () => ServiceState;
  readonly #wait: (durationMs: DurationMs) => Promise<void>;
  readonly #onFailure: (error: StateFileError) => void;
  #isChanged = false;
  #isClosing = false;
  #writing: Promise<void> | undefined;

  constructor(parts: {
    readonly path: string;
    readonly state: () => ServiceState;
    /** Waits in real time; returns at once when the service closes. */
    readonly wait: (durationMs: DurationMs) => Promise<void>;
    /** Told of each write that failed; the next one is tried after the next change, and at the end. */
    readonly onFailure: (error: StateFileError) => void;
  }) {
    this.#path = parts.path;
    this.#state = parts.state;
    this.#wait = parts.wait;
    this.#onFailure = parts.onFailure;
  }

  /** The first write, which shows that there can be more. @throws StateFileError */
  async open(): Promise<void> {
    await writeStateFile(this.#path, this.#state());
  }

  noteChange(): void {
    this.#isChanged = true;
    this.#writing ??= this.#writeWhileChanging();
  }

  /** Writes the last state, once nothing changes any more. @throws StateFileError */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#writing;
    await writeStateFile(this.#path, this.#state());
  }

  async #writeWhileChanging(): Promise<void> {
    while (this.#isChanged && !this.#isClosing) {
      await this.#wait(writeIntervalMs);
      this.#isChanged = false;
      try {
        await writeStateFile(this.#path, this.#state());
      } catch (error) {
        this.#onFailure(error as StateFileError);
        break;
      }
    }
    this.#writing = undefined;
  }
}
