import { describe, expect, it } from 'vitest';
import { checkFleet } from '../../../../src/cli/plan/fleet-check.ts';
import { planJson } from '../../../../src/cli/plan/plan-command.ts';
import { assessPlan } from '../../../../src/cli/plan/plan-figures.ts';
import { overlapText, renderMembers, renderPlan } from '../../../../src/cli/plan/render-plan.ts';
import type { PlanReading } from '../../../../src/orchestrator/scan/read-plan.ts';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { makePlan } from '../../../../src/rollout/planning/plan.ts';
import { aWebhookGate } from '../../../support/builders/gate-builders.ts';
import {
  aFleet,
  aPolicy,
  aTarget,
  aWaveRule,
  oldBuild,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';

const clearScreen = '\u001b[2J';
const hour = 3_600_000;
// Every day from 22:00 to 02:00; it is 21:00.
const nights = [{ days: [1, 2, 3, 4, 5, 6, 7], fromMinute: 1_320, toMinute: 120, timeZone: 'UTC' }];
const twoWaves = [
  aWaveRule({
    name: 'canary',
    size: { kind: 'count', count: 1 },
    soakMs: hour,
    maxFailures: { kind: 'count', count: 0 },
  }),
  aWaveRule(),
];

interface Given {
  readonly policy?: Partial<Policy>;
  readonly size?: number;
  readonly change?: (id: number) => Partial<FleetCollector>;
}

function planned({ policy: changes, size = 100, change }: Given) {
  const policy = aPolicy(changes);
  const plan = makePlan(policy, targetBuild, aFleet(size, change), 'production-20260302-1');
  const figures = assessPlan(policy, plan, { now: startedAt, requestsPerSecond: 4, history: [] });
  return { policy, plan, figures };
}

function linesOf(given: Given): readonly string[] {
  const { policy, plan, figures } = planned(given);
  return renderPlan(policy, plan, figures, startedAt).split('\n');
}

const cellsOf = (lines: readonly string[]) =>
  lines.filter((line) => line.startsWith('│')).map((line) => line.split('│').map((cell) => cell.trim()));

const long = { deadlineMs: 9 * hour, verifyWithinMs: 600_000 };
const past = { from: '2026-01-01T00:00', to: '2026-01-02T00:00', reason: '', timeZone: 'UTC' };
const forGood = { ...past, to: '2030-01-01T00:00' };
const noneSelected = { include: { name: ['nobody'] }, exclude: [] };
const onHosts = (cap: number) => ({ waves: twoWaves, maxInFlightPer: [{ key: 'hostName', cap } as const] });
const atTarget = () => ({ build: targetBuild });

describe('a plan for a person', () => {
  it('begins with policy, target, size and hash', () => {
    const { plan } = planned({});
    expect(linesOf({})[0]).toBe(`production → 19.536-4   100 collectors   plan ${plan.hash}`);
  });

  it('shows that the match of the first wave matches nothing', () => {
    const waves = [aWaveRule({ ...twoWaves[0], match: { osName: ['Lunix'] } }), aWaveRule()];
    const line =
      'match: that of wave canary matches nothing here, so the wave takes one collector of each stratum';
    expect(linesOf({ policy: { waves } })).toContain(line);
    expect(linesOf({ policy: { waves: twoWaves } })).not.toContain(line);
  });

  it('shows a first wave that is large because the fleet has many strata', () => {
    const perStratum = { kind: 'perStratum', count: 1 } as const;
    const shown = (strata: number, first = aWaveRule({ ...twoWaves[0], size: perStratum }), size = 100) => {
      const policy = { waves: [first, aWaveRule()], spreadBy: ['osName', 'osArch'] } as const;
      const lines = linesOf({ policy, size, change: (id) => ({ osName: `OS ${id % strata}` }) });
      return lines.filter((line) => line.startsWith('canary: '));
    };
    expect(shown(26)).toEqual([expect.stringContaining('26 of 100 collectors')]);
    expect(shown(25)).toEqual([]);
    expect(shown(19, undefined, 19)).toEqual([]);
    expect(shown(26, aWaveRule({ ...twoWaves[0], size: { kind: 'count', count: 60 } }))).toEqual([]);
  });

  it('shows each wave with its strata, soak, allowance, approval and gates', () => {
    const gates = [
      aWebhookGate({ name: 'pager' }),
      aWebhookGate({ name: `disk${clearScreen}`, dryRun: true }),
    ];
    const waves = [aWaveRule({ ...twoWaves[0], gates }), aWaveRule({ approval: true })];
    const change = (id: number) => ({ osName: id % 2 === 0 ? 'Linux' : 'AIX' });
    expect(cellsOf(linesOf({ policy: { waves, spreadBy: ['osName'] }, change }))).toEqual([
      ['', 'wave', 'collectors', 'strata', 'soak', 'failures allowed', 'approval', 'gates', ''],
      ['', 'canary', '1', '1/2', '1h', '0', '', 'pager, disk\\u001b[2J (dry run)', ''],
      ['', 'rest', '99', '2/2', '0s', '1 (2%)', 'needed', '', ''],
    ]);
  });

  it('names strata that no wave before the last covers', () => {
    const change = (id: number) => ({ osName: `OS ${id % 30}` });
    const lines = linesOf({ policy: { waves: twoWaves, spreadBy: ['osName'] }, change });
    expect(lines.find((line) => line.startsWith('uncovered: '))).toMatch(
      /^uncovered: 29 of 30 strata are in no wave before the last: (OS [^;]*; ){5}…$/,
    );
    expect(linesOf({ policy: { spreadBy: ['osName'] }, change }).join()).not.toContain('uncovered');
  });

  it.each<readonly [given: Given, line: string]>([
    [
      { policy: onHosts(2), change: (id) => ({ hostName: id <= 40 ? 'one' : `host ${id}` }) },
      'caps: in wave rest up to 20 collectors have to wait for each other (hostName: 2)',
    ],
    [{ policy: { windows: nights } }, 'window: closed: outside the window, opens 22:00 UTC (1h)'],
    [
      { policy: { windows: nights, upgrade: { ...long, expectMs: 4 * hour + 1 } } },
      'window: none is open as long as an upgrade is expected to take (4h), so nothing would start; widen windows, or lower upgrade.expect',
    ],
    [{ policy: { freezes: [forGood] } }, 'needs about 722 requests, and does not fit its windows'],
    [
      { change: (id) => ({ build: id > 90 ? targetBuild : oldBuild, alive: id !== 1 }) },
      'left out: not alive: 1 · runs the target build already: 10',
    ],
    [
      { policy: { target: aTarget({ minimumAgeMs: 72 * hour }) } },
      'only the daemon knows the age of the build (at least 3d is required)',
    ],
    [
      { policy: { select: noneSelected } },
      'the policy matches nothing: none of the 100 installed collectors is selected; no collector matches select.include.name {name: "nobody"}',
    ],
    [{ change: atTarget }, 'no collector can be upgraded to 19.536-4 now'],
    [
      { size: 0 },
      'the inventory holds no installed collector: check that the access key may see collectors, and the base URL',
    ],
  ])('shows what applies: %#', (given, line) => {
    expect(linesOf(given)).toContain(line);
  });

  it.each<readonly [given: Given, words: RegExp]>([
    [{}, /window|left out|daemon|without the wait for approval/],
    [{ policy: onHosts(2), change: (id) => ({ hostName: `host ${id}` }) }, /caps/],
    [{ policy: { windows: nights } }, /nothing would start/],
    [{ policy: { windows: nights, upgrade: { ...long, expectMs: 4 * hour } } }, /nothing would start/],
    // It depends on a person.
    [{ policy: { approval: true } }, /would end/],
  ])('omits what does not apply: %#', (given, words) => {
    expect(linesOf(given).join('\n')).not.toMatch(words);
  });

  it('fits the terminal, with long texts below their label', () => {
    const change = (id: number) => ({ osName: `OS with a long name ${id % 30}` });
    const { policy, plan, figures } = planned({ policy: { waves: twoWaves, spreadBy: ['osName'] }, change });
    const lines = renderPlan(policy, plan, figures, startedAt, 80).split('\n');
    const at = lines.findIndex((line) => line.startsWith('uncovered: 29 of 30'));
    expect(lines[at + 1]).toMatch(/^ {11}\S/);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('shows how long it takes, how many requests it needs, and when it ends', () => {
    const line = linesOf({ policy: { waves: twoWaves } }).find((each) => each.startsWith('takes about '));
    expect(line).toMatch(
      /^takes about (\S+) \(±\S+\) and 748 requests, would end about (2026-03-03 )?\d\d:\d\d \S+$/,
    );
    const none = aWaveRule({ name: 'none', size: { kind: 'count', count: 0 }, soakMs: 100 * hour });
    const { estimate } = planned({ policy: { waves: [none, aWaveRule()] } }).figures;
    expect(estimate.endsAt).toBeLessThan(startedAt + 10 * hour);
  });

  it('shows that the estimate leaves out the wait for approval', () => {
    const policy = { waves: [aWaveRule({ approval: true })] };
    expect(linesOf({ policy }).join('\n')).toMatch(/, without the wait for approval$/m);
  });

  it('names every member with wave, place and stratum, and every collector left out', () => {
    const change = (id: number) => ({
      name: `web-${id}${clearScreen}`,
      osName: 'AIX',
      build: id === 1 ? targetBuild : oldBuild,
    });
    const { plan } = planned({ policy: { waves: twoWaves, spreadBy: ['osName'] }, size: 3, change });
    const [first, second] = plan.waves.flatMap(({ members }) => members.map(({ collector }) => collector.id));
    expect(renderMembers(plan).split('\n')).toEqual([
      `  canary  1  ${first} web-${first}\\u001b[2J  19.441-2  AIX`,
      `  rest  2  ${second} web-${second}\\u001b[2J  19.441-2  AIX`,
      '  left out  1 web-1\\u001b[2J  19.536-4: runs the target build already',
    ]);
  });
});

describe('a plan for programs', () => {
  it('has the same figures, and members where they are asked for', () => {
    const change = (id: number) => ({ build: id === 1 ? targetBuild : oldBuild });
    const { policy, plan, figures } = planned({
      policy: { waves: twoWaves, windows: nights },
      size: 3,
      change,
    });
    expect(planJson(policy, plan, figures, false)).toMatchObject({
      policy: 'production',
      targetBuild,
      hash: plan.hash,
      planned: 2,
      selected: 3,
      installed: 3,
      strata: { total: 1 },
      window: { isOpen: false, until: startedAt + hour, isLongEnough: true },
      waves: [
        { name: 'canary', size: 1, strata: 1, soakMs: hour, failuresAllowed: 0, chain: 1 },
        { name: 'rest', size: 1, maxFailures: '2%' },
      ],
      leftOut: [{ kind: 'atTarget', reason: 'runs the target build already', count: 1 }],
      estimate: { requests: 67 },
    });
    expect(JSON.stringify(planJson(policy, plan, figures, false))).not.toContain('collector-');
    expect(planJson(policy, plan, figures, true)).toMatchObject({
      waves: [{ members: [{ order: 1, build: oldBuild, stratum: 'all' }] }, { members: [{ order: 2 }] }],
      leftOutCollectors: [{ id: 1, name: 'collector-1', kind: 'atTarget' }],
    });
  });
});

describe('policies that claim the same collectors', () => {
  it('are named with the number of collectors, and some of their names', () => {
    const policies = ['a', 'b'] as const;
    expect(overlapText({ policies, count: 4, names: ['x', `y${clearScreen}`, 'z'] })).toBe(
      'a and b both claim 4 collectors (x, y\\u001b[2J, z, …); the policy that plans first gets them',
    );
    expect(overlapText({ policies, count: 1, names: ['x'] })).toMatch(/claim 1 collector \(x\);/);
  });
});

describe('a config beside its fleet', () => {
  const ten = aFleet(10, (id) => ({ build: id === 1 ? targetBuild : oldBuild }));
  const planOf = (name: string, ids: readonly number[], fleet = ten) => {
    const policy = aPolicy({ name, select: { include: { id: ids }, exclude: [{ id: [9] }] } });
    const plan = makePlan(policy, targetBuild, fleet, name);
    const reading: PlanReading = { kind: 'planned', plan, fleet, builds: [], stillRunning: undefined };
    return { policy, reading };
  };

  it('shows how many collectors each policy selects, whatever build they run', () => {
    const { policies, warnings } = checkFleet([planOf('all', [1, 2, 3, 9]), planOf('none', [9, 77])]);
    expect(policies.map(({ words }) => words)).toEqual([
      'all: selects 3 of 10 installed collectors',
      'none: selects 0 of 10 installed collectors',
    ]);
    expect(warnings).toEqual([
      'none matches nothing: select.exclude leaves out all 1 that select.include matches',
    ]);
    const { warnings: ofNone } = checkFleet([planOf('all', [1], aFleet(0))]);
    expect(ofNone).toEqual([
      expect.stringMatching(/^all: .* no installed collector: check that the access key/),
    ]);
  });

  it.each<readonly [select: Partial<Policy['select']>, part: string]>([
    [
      { include: { osName: ['Linux'], fields: { rack: ['r7', 'r8'] } } },
      'no collector matches select.include.fields.rack {fields: {rack: ["r7", "r8"]}}',
    ],
    [
      { include: { osName: ['Linux'], id: [2] } },
      'each key of select.include matches collectors, but no collector matches all: select.include.osName {osName: "Linux"}, select.include.id {id: 2}',
    ],
    [
      { exclude: [{ osName: ['Linux'] }, { id: [2] }] },
      'select.exclude leaves out all 2 that select.include matches',
    ],
    [{ share: 0.0001 }, 'select.share leaves out all 2 that match'],
  ])('names the part of a selection that matches nothing: %j', (changes, part) => {
    const fleet = aFleet(2, (id) => ({ osName: id === 1 ? 'Linux' : 'AIX' }));
    const policy = aPolicy({ select: { include: {}, exclude: [], ...changes } });
    const plan = makePlan(policy, targetBuild, fleet, 'seed');
    const reading: PlanReading = { kind: 'planned', plan, fleet, builds: [], stillRunning: undefined };
    const warning = `${policy.name} matches nothing: ${part}`;
    expect(checkFleet([{ policy, reading }]).warnings).toEqual([warning]);
  });

  it('warns of a wave whose match matches no selected collector, and of a build that is not on offer', () => {
    const { reading, policy } = planOf('all', [1, 2]);
    const waves = [aWaveRule({ ...twoWaves[0], match: { osName: ['Lunix'] } }), aWaveRule()];
    const notOffered = {
      policy: aPolicy({ name: 'late' }),
      reading: { kind: 'noTarget', why: { kind: 'notOffered', build: '19.999-1' } } as const,
    };
    const { warnings } = checkFleet([{ policy: { ...policy, waves }, reading }, notOffered]);
    expect(warnings).toEqual([
      'late starts nothing until its build is available',
      'all: the match of wave canary matches nothing',
    ]);
  });

  it('shows which policies select the same, and leaves out one without a target', () => {
    const noTarget = {
      policy: aPolicy({ name: 'late' }),
      reading: { kind: 'noTarget', why: { kind: 'noLatest' } } as const,
    };
    const { policies, overlaps, warnings } = checkFleet([planOf('a', [1, 2]), noTarget, planOf('b', [1, 3])]);
    expect(policies[1]).toEqual({
      policy: 'late',
      selected: null,
      words: 'late: the service marks no build as the latest',
    });
    expect(overlaps).toEqual([{ policies: ['a', 'b'], count: 1, names: ['collector-1'] }]);
    expect(warnings).toEqual([
      'a and b both claim 1 collector (collector-1); the policy that plans first gets them',
    ]);
  });
});
