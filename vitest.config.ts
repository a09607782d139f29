import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/setup/longest-first.ts';

const referenceService = fileURLToPath(
  new URL('src/reference-service/server/reference-service.ts', import.meta.url),
);
const secretWatch = 'test/support/setup/secret-watch-setup.ts';
// Files share their modules, which are loaded once for each worker (`isolate: false`): that is half a second a file.
const setupFiles = ['test/support/setup/seed-setup.ts', secretWatch];
// A bound for what hangs, where a second is nothing on a machine that has other work to do.
const poll = { timeout: 60_000 };

const withRedis = {
  setupFiles,
  isolate: false,
  // Nights in one process share its turns: more of them at once keep each other from sending anything in time.
  maxConcurrency: 3,
  globalSetup: ['test/support/setup/redis-global-setup.ts', 'test/support/setup/dist-global-setup.ts'],
  // A bound for what hangs: whole rollouts, and processes, on a machine that has other work to do.
  testTimeout: 180_000,
  hookTimeout: 60_000,
  expect: { poll },
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/examples/in-process.test.ts'],
          // Examples import the package as its users do.
          alias: { 'upwave/reference-service': referenceService },
          setupFiles,
          // A bound for what hangs: a property takes up to ten seconds of a CPU, whose other seconds others may have.
          testTimeout: 300_000,
          hookTimeout: 60_000,
          isolate: false,
        },
      },
      {
        // What is written, as lint judges it, and not what it does: `npm run check` runs it.
        // A bound for what hangs: all of src is read in two seconds, and in thirty on a busy machine.
        test: {
          name: 'sources',
          include: ['test/sources/**/*.test.ts'],
          setupFiles: [secretWatch],
          testTimeout: 120_000,
        },
      },
      {
        // The page and the guides as a person uses and sees them. Each view takes a second of a CPU.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          // The page that the browser loads.
          globalSetup: ['test/support/setup/dist-global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          expect: { poll },
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          ...withRedis,
        },
      },
      {
        // The commands and the daemon as processes, for whole rollouts: half of the time of all tests.
        test: {
          name: 'processes',
          include: ['test/processes/**/*.test.ts'],
          ...withRedis,
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          setupFiles,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          isolate: false,
          expect: { poll },
        },
      },
      {
        test: {
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          setupFiles,
          globalSetup: ['test/chaos/global-setup.ts', 'test/support/setup/dist-global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          // Each has enough processes of its own.
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'containers',
          include: ['test/containers/**/*.test.ts', 'test/examples/in-container.test.ts'],
          globalSetup: ['test/support/setup/service-image-global-setup.ts'],
          // Its image is not everywhere. Each test removes its containers.
          env: { TESTCONTAINERS_RYUK_DISABLED: 'true' },
          setupFiles: [secretWatch],
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
    ],
    sequence: { sequencer: LongestFirst },
    // Tests that wait for real processes leave two cores idle. On two cores, three workers take a tenth longer than four.
    maxWorkers: 4,
  },
});
