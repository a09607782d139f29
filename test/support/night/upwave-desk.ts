import { type CallResult, callUpwave } from './upwave-call.ts';
import {
  aFolder,
  type Folder,
  type ProcessResult,
  startUpwave,
  type UpwaveProcess,
} from './upwave-process.ts';

/** A test of vitest, as far as what it starts ends with it. */
export interface RunningTest {
  onTestFinished(work: () => Promise<void> | void): void;
}

/** A config file in a folder of its own, and `upwave` with it. */
export interface Desk extends Folder {
  /** Of the config. */
  readonly file: string;
  /** Writes the config anew, with these sections instead. */
  change(sections: object): void;
  /** A process, which ends with the test. */
  start(...args: readonly string[]): UpwaveProcess;
  /** A process to its end: each kind of command has to end by itself, whatever it had opened. */
  run(...args: readonly string[]): Promise<ProcessResult>;
  /** In the process of the test: for the words and the code. */
  call(...args: readonly string[]): Promise<CallResult>;
}

/** @param env of its processes @param openFilesMax theirs, too */
export function aDesk(
  { onTestFinished }: RunningTest,
  config: object,
  process: { readonly env?: Readonly<Record<string, string>>; readonly openFilesMax?: number } = {},
): Desk {
  const folder = aFolder(onTestFinished);
  const file = folder.write('upwave.yaml', config);
  const start = (...args: readonly string[]) => {
    const started = startUpwave({ ...process, args: [...args, '--config', file], cwd: folder.path });
    onTestFinished(() => started.kill('SIGKILL'));
    return started;
  };
  return {
    ...folder,
    file,
    change: (sections) => void folder.write('upwave.yaml', { ...config, ...sections }),
    start,
    run: (...args) => start(...args).ended,
    call: (...args) => callUpwave(...args, '--config', file),
  };
}
