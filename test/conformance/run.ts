import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startVitest, type TestCase } from 'vitest/node';
import { sectionOf, testableSections } from './support/sections.ts';

const usage = `Proves a Collector Management Service against its specification, section by section.

npm run test:conformance -- [options]      without an address: the reference service, started in this process

  --base-url URL        {base_url} of the specification, without /v1     UPWAVE_CONFORMANCE_BASE_URL
  --access-id ID                                                         UPWAVE_CONFORMANCE_ACCESS_ID
  --access-key KEY      better given by its variable                     UPWAVE_CONFORMANCE_ACCESS_KEY
  --allow-upgrades      also create upgrade tasks there                  UPWAVE_CONFORMANCE_ALLOW_UPGRADES=1
  --fuzz REQUESTS       so many generated requests (reference service)   UPWAVE_CONFORMANCE_FUZZ
  --seed SEED           the generated requests of an earlier run         UPWAVE_CONFORMANCE_SEED
  --only TEXT           only the test files with this in their path
  --table               only print how many tests each section has
`;

const given = readArguments();
if (given === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else if (given.help === true) process.stdout.write(usage);
else process.exitCode = await run(given);

function readArguments() {
  try {
    return parseArgs({
      options: {
        'base-url': { type: 'string' },
        'access-id': { type: 'string' },
        'access-key': { type: 'string' },
        'allow-upgrades': { type: 'boolean' },
        fuzz: { type: 'string' },
        seed: { type: 'string' },
        only: { type: 'string' },
        table: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n`);
    return undefined;
  }
}

type Given = NonNullable<typeof given>;

async function run(given: Given): Promise<number> {
  setVariable('BASE_URL', given['base-url']);
  setVariable('ACCESS_ID', given['access-id']);
  setVariable('ACCESS_KEY', given['access-key']);
  setVariable('ALLOW_UPGRADES', given['allow-upgrades'] === true ? '1' : undefined);
  setVariable('FUZZ', given.fuzz);
  setVariable('SEED', given.seed);
  const isExternal = (process.env['UPWAVE_CONFORMANCE_BASE_URL'] ?? '') !== '';
  const vitest = await startVitest('test', filters(given), {
    root: fileURLToPath(new URL('../../', import.meta.url)),
    project: ['conformance'],
    watch: false,
    reporters: ['default'],
    ...(given.table === true ? { testNamePattern: /^nothing is called so$/, reporters: [{}] } : {}),
    // Two files at a time would ask a service that is not ours twice as fast.
    ...(isExternal ? { fileParallelism: false } : {}),
  });
  const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  await vitest.close();
  // A part of the suite has empty sections, of course.
  const isWhole = given.only === undefined && given.fuzz === undefined;
  const empty = isWhole ? printTable(tests, given.table === true) : [];
  const failed = tests.some((test) => test.result().state === 'failed');
  return failed || empty.length > 0 || process.exitCode === 1 ? 1 : 0;
}

function filters(given: Given): string[] {
  if (given.only !== undefined) return [given.only];
  return given.fuzz === undefined ? ['test/conformance/'] : ['test/conformance/fuzz'];
}

function setVariable(name: string, value: string | undefined): void {
  if (value !== undefined) process.env[`UPWAVE_CONFORMANCE_${name}`] = value;
}

/** @returns the sections without any test */
function printTable(tests: readonly TestCase[], isCountOnly: boolean): readonly string[] {
  const rows = testableSections.map((section) => {
    const own = tests.filter((test) => sectionOf(test.name) === section);
    const count = (state: string) => own.filter((test) => test.result().state === state).length;
    return {
      section,
      tests: own.length,
      passed: count('passed'),
      failed: count('failed'),
      skipped: count('skipped'),
    };
  });
  const columns = isCountOnly ? ([] as const) : (['passed', 'failed', 'skipped'] as const);
  const line = (cells: ReadonlyArray<string | number>) =>
    `${cells.map((cell) => String(cell).padStart(9)).join('')}\n`;
  process.stdout.write(line(['section', 'tests', ...columns]));
  for (const row of rows) {
    process.stdout.write(line([`§${row.section}`, row.tests, ...columns.map((column) => row[column])]));
  }
  const sum = rows.reduce((total, row) => total + row.tests, 0);
  const empty = rows.filter((row) => row.tests === 0).map(({ section }) => section);
  process.stdout.write(
    `${sum} tests; ${empty.length === 0 ? 'no section is empty' : `empty: ${empty.join(', ')}`}\n`,
  );
  return empty;
}
