import { callUpwave } from './upwave-call.ts';
import { aConfigFolder, startUpwave } from './upwave-process.ts';

/** A test of vitest, as far as what it starts ends with it. */
export interface RunningTest {
  onTestFinished(work: () => Promise<void> | void): void;
}

export type Desk = ReturnType<typeof aDesk>;

/** A config file in a folder of its own, and `upwave` with it. @param process the environment and limits of processes */
export function aDesk(
  { onTestFinished }: RunningTest,
  config: object,
  process: { readonly env?: Readonly<Record<string, string>>; readonly openFilesMax?: number } = {},
) {
  const folder = aConfigFolder(onTestFinished);
  const file = folder.write('upwave.yaml', config);
  /** A process, which ends with the test. */
  const start = (...args: readonly string[]) => {
    const started = startUpwave({ ...process, args: [...args, '--config', file], cwd: folder.path });
    onTestFinished(() => started.kill('SIGKILL'));
    return started;
  };
  return {
    ...folder,
    file,
    /** Writes the config anew, with these sections instead. */
    change: (sections: object) => void folder.write('upwave.yaml', { ...config, ...sections }),
    start,
    /** A process to its end: each kind of command has to end by itself, whatever it had opened. */
    run: (...args: readonly string[]) => start(...args).ended,
    /** In the process of the test: for the words and the code. */
    call: (...args: readonly string[]) => callUpwave(...args, '--config', file),
  };
}
