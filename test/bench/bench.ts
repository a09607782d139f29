import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { brokenIn, runBlastRadius } from './blast-radius/blast-radius.ts';
import { renderBlastRadius } from './blast-radius/report-blast-radius.ts';
import { contestPart } from './contest/contest-part.ts';
import { contestantNames } from './contest/contestant.ts';
import { daemonsPart } from './daemons.ts';
import { idlePart } from './idle.ts';
import { largePart } from './large/large.ts';
import { planningPart } from './large/planning.ts';
import { readsPart } from './large/reads.ts';
import { nightPart } from './night/night.ts';
import type { Part } from './part.ts';
import { rehearsalPart } from './rehearsal/rehearsal-part.ts';
import { describeMachine, type PartResult, renderReport } from './report.ts';

const usage = `npm run bench -- [NAME…] [--short] [--runs N] [--collectors N] [--only upwave|plainPool|fixedBatch] [--out FOLDER] [--json FILE]

  slots         1,000 collectors and 100 slots: upwave, a plain pool and a fixed-batch loop side by side
  slots-10000   the same with 10,000 collectors; by name only, since it takes hours
  slots-mixed   600 collectors and 60 slots, where a fifth takes three times as long
  rate          1,000 collectors and 1,000 slots, where the request rate of the service is the limit
  rate-jitter   the same through a network with 20 ms of jitter, at real speed: 35 minutes a run; by name only
  planning      plans and freezes fleets of 1,000 to 100,000
  large         a daemon in the middle of a rollout of 1,000 to 100,000 collectors, also in ten accounts, 1,000 ended
                rollouts behind it
  daemons       1, 2 and 4 daemons on one Redis, and how soon they are back at work after a kill -9
  idle          a daemon that has nothing to do
  reads         how fast the reference service answers
  night         a whole night of 100,000 collectors in ten accounts, with three faults; takes hours; by name only
  rehearsal     thirteen rehearsals, each against a rollout of a real daemon; by name only; --short: in virtual time
  blast-radius  builds that break one part of a large fleet, on a virtual clock; by name only

Contests run real daemon processes on a Redis of their own against the reference service, at 20 times real speed. All
but those by name run where no name is given, which takes over an hour. --short: under two minutes, and coarser.
--runs: the median of so many runs, 5 by default. --collectors: the part large measures one fleet of this size alone, and night
has so many. --out: writes the figures as JSON and Markdown, and plots of the contests and of the night (SVG). The files
of a part that runs alone have its name.
`;

const parts: Readonly<Record<string, { readonly run: Part; readonly when: 'always' | 'full' | 'named' }>> = {
  slots: { run: contestPart('slots'), when: 'always' },
  'slots-10000': { run: contestPart('slots-10000'), when: 'named' },
  'slots-mixed': { run: contestPart('slots-mixed'), when: 'full' },
  rate: { run: contestPart('rate'), when: 'always' },
  'rate-jitter': { run: contestPart('rate-jitter'), when: 'named' },
  planning: { run: planningPart, when: 'always' },
  large: { run: largePart, when: 'full' },
  daemons: { run: daemonsPart, when: 'full' },
  idle: { run: idlePart, when: 'full' },
  reads: { run: readsPart, when: 'full' },
  night: { run: nightPart, when: 'named' },
  rehearsal: { run: rehearsalPart, when: 'named' },
};

const options = {
  short: { type: 'boolean', default: false },
  runs: { type: 'string' },
  collectors: { type: 'string' },
  only: { type: 'string' },
  out: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Runs the benchmarks. @returns the exit code: 1 when a run broke a promise, whatever the figures */
async function bench(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const only = contestantNames.find((name) => name === values.only);
  const [runs, collectors] = [values.runs, values.collectors].map((text) =>
    text === undefined ? undefined : Number(text),
  );
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (positionals.length === 1 && positionals[0] === 'blast-radius') return benchBlastRadius(values);
  const isUnknown = positionals.some((name) => parts[name] === undefined);
  const areCounts = [runs, collectors].every(
    (each) => each === undefined || (Number.isInteger(each) && each > 0),
  );
  if (isUnknown || only !== values.only || !areCounts) {
    process.stderr.write(usage);
    return 2;
  }
  const machine = describeMachine();
  const results: Array<PartResult & { readonly name: string }> = [];
  for (const [name, { run, when }] of Object.entries(parts)) {
    const isWanted =
      positionals.length > 0
        ? positionals.includes(name)
        : when === 'always' || (when === 'full' && !values.short);
    if (isWanted)
      results.push({ name, ...(await run({ isShort: values.short, runs, collectors, only, tell })) });
  }
  const report = renderReport(machine, results);
  process.stdout.write(report);
  const data = { machine, parts: Object.fromEntries(results.map((result) => [result.name, result.data])) };
  writeJson(data, values.json);
  if (values.out !== undefined) {
    const reportName = results.length === 1 ? results[0]?.name : 'bench';
    writeJson(data, join(values.out, `${reportName}.json`));
    writeFileSync(join(values.out, `${reportName}.md`), report);
    for (const { plots = [] } of results)
      for (const { name, svg } of plots) writeFileSync(join(values.out, `${name}.svg`), svg);
  }
  return results.some(({ broken }) => broken.length > 0) ? 1 : 0;
}

async function benchBlastRadius(values: {
  readonly short: boolean;
  readonly json?: string | undefined;
}): Promise<number> {
  const result = await runBlastRadius(values.short ? 'short' : 'full', tell);
  process.stdout.write(renderBlastRadius(result));
  writeJson(result, values.json);
  return brokenIn(result).length > 0 ? 1 : 0;
}

function writeJson(result: object, file: string | undefined): void {
  if (file === undefined) return;
  // Hours of measuring are not lost for a folder that is not there.
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

process.exitCode = await bench();
