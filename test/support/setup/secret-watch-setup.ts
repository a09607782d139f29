import { format } from 'node:util';
import { afterAll } from 'vitest';
import { takeLeaks, watchOutput } from './secret-watch.ts';

// All output of a test file is searched. A secret in it fails the file (P12).
for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
  // biome-ignore lint/suspicious/noConsole: it is what is watched
  const print = console[name].bind(console);
  console[name] = (...values: unknown[]) => {
    watchOutput(`console.${name}`, format(...values));
    print(...values);
  };
}
for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    watchOutput(name, typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    return write(chunk, ...rest);
  };
}

afterAll(() => {
  const leaks = takeLeaks();
  if (leaks.length > 0) throw new Error(`secrets were printed:\n${leaks.join('\n')}`);
});
