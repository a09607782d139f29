import { describe, expect, it } from 'vitest';
import { assessPlan } from '../../src/cli/plan/plan-figures.ts';
import { renderMembers, renderPlan } from '../../src/cli/plan/render-plan.ts';
import { renderExplanation } from '../../src/cli/rollouts/explain-command.ts';
import { renderTable } from '../../src/cli/shell/render-table.ts';
import { makeLogger } from '../../src/observability/logger.ts';
import type { FleetCollector } from '../../src/rollout/model/collector.ts';
import { makePlan } from '../../src/rollout/planning/plan.ts';
import { startedAt } from '../support/builders.ts';
import { readConfig, withRollout } from '../support/config-fixtures.ts';
import { type Script, sendJson } from '../support/network/scripted-server.ts';
import { aCollectorApi } from '../support/setup/collector-api-setup.ts';

const target = '19.500-1';
const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eabc\u061c\u200b\r\nfake line\u0000';

describe('collectors as a hostile machine could register them', () => {
  const collector = (id: number, more: object) => ({
    id,
    name: `web-${id}`,
    collectorType: 'Installable',
    alive: true,
    collectorVersion: '19.441-2',
    osName: 'Linux',
    ...more,
  });

  /** Reads an inventory of these over real HTTP. The text is sent as it is: `__proto__` is lost by most who write JSON. */
  const readFleet = async (collectors: readonly object[] | string) => {
    const inventory = typeof collectors === 'string' ? collectors : JSON.stringify({ collectors });
    const script: Script = ({ query }, response) => {
      if (query.get('offset') !== '0') return sendJson(response, 200, { collectors: [] });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(inventory);
    };
    const { fleet } = await aCollectorApi(script);
    const answer = await fleet.readFleet(target);
    if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
    return answer.value;
  };

  /** Everything in which a person meets a collector, as it is shown. */
  const shown = (fleet: Awaited<ReturnType<typeof readFleet>>) => {
    const [policy] = readConfig(
      withRollout('select: { exclude: [] }\nspreadBy: [osName, fields.team, fields.constructor]'),
    ).rollouts;
    if (policy === undefined) throw new Error('no policy');
    const upgradableIds = new Set(fleet.collectors.map(({ id }) => id));
    const plan = makePlan(policy, target, { ...fleet, upgradableIds, offeredAt: null }, 'all-20261121-1');
    if (plan.waves.every(({ members }) => members.length === 0)) throw new Error('nobody is planned');
    const lines: string[] = [];
    const logger = makeLogger({
      level: 'debug',
      secrets: [],
      destination: { write: (line) => void lines.push(line) },
    });
    for (const { id, name, osName } of fleet.collectors)
      logger.write('info', {
        event: 'upgrade.failed',
        collectorId: id,
        collectorName: name,
        reason: osName,
        error: new Error(name),
      });
    const explanation = ({ id, name, build }: FleetCollector) =>
      renderExplanation(
        { collectorId: id, collectorName: name, build, explanations: [], history: [] },
        startedAt,
      );
    const figures = assessPlan(policy, plan, { now: startedAt, requestsPerSecond: 4 });
    return {
      plan: `${renderPlan(policy, plan, figures, startedAt)}\n${renderMembers(plan)}`,
      log: lines.join(''),
      table: renderTable(
        ['name', 'os'],
        fleet.collectors.map(({ name, osName }) => [name, osName]),
      ),
      explanation: fleet.collectors.map(explanation).join('\n'),
    };
  };

  it('move no terminal, in whatever field it stands', async () => {
    const texts = { name: `a${evil}`, category: evil, hostName: evil, osName: `os${evil}`, timeZone: evil };
    const fleet = await readFleet([
      collector(1, { ...texts, osArch: evil, fields: { team: evil, [evil]: evil } }),
      collector(2, { collectorVersion: evil }),
    ]);
    expect(fleet.collectors[0]?.name).toBe(`a${evil}`);
    for (const [where, text] of Object.entries(shown(fleet))) {
      // Our own line breaks and colours aside; these commands paint nothing.
      expect(text.replaceAll('\n', ''), where).not.toMatch(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(text, where).not.toMatch(/^fake line/m);
    }
  });

  it('have no half of a character, at which the scripts in Redis would fail', async () => {
    const half = 'a\ud83d';
    const fleet = await readFleet([collector(1, { name: half, osName: half, fields: { [half]: half } })]);
    expect(fleet.collectors[0]).toMatchObject({
      name: 'a\ufffd',
      osName: 'a\ufffd',
      fields: { 'a\ufffd': 'a\ufffd' },
    });
  });

  it('fill no log, page, terminal or Redis with their texts', async () => {
    const long = '😀'.repeat(2_000);
    const fleet = await readFleet([
      collector(1, { name: long, category: long, osName: long, fields: { team: long, [long]: 'x' } }),
      collector(2, { collectorVersion: long, hostName: long, timeZone: long, sourceSyncMode: long }),
    ]);
    expect(JSON.stringify(fleet.collectors).length).toBeLessThan(20_000);
    expect(fleet.collectors[0]?.name).toMatch(/^😀{511,512}…$/u);
    // Not even half a character is left over.
    expect(JSON.stringify(fleet.collectors)).not.toMatch(/\\ud[89ab]/i);
    for (const [where, text] of Object.entries(shown(fleet))) expect(text.length, where).toBeLessThan(40_000);
  });

  it('have fields of any name and kind, which mean nothing to JavaScript', async () => {
    const fields =
      '{"__proto__":{"team":"x"},"constructor":"c","toString":"t","odd":{"toString":1,"valueOf":1},"list":[1],"none":null,"team":7}';
    const whole = JSON.stringify(collector(1, { fields: 'HERE', __proto__: 'HERE' }));
    const fleet = await readFleet(
      `{"collectors":[${whole.replace('"HERE"', fields).replace('{', '{"__proto__":{"alive":false},')}]}`,
    );
    const [first] = fleet.collectors;
    expect(first?.alive).toBe(true);
    expect(Object.entries(first?.fields ?? {})).toEqual(
      expect.arrayContaining([
        ['constructor', 'c'],
        ['toString', 't'],
        ['odd', '{"toString":1,"valueOf":1}'],
        ['list', '[1]'],
        ['none', 'null'],
        ['team', '7'],
      ]),
    );
    expect(Object.getPrototypeOf(first?.fields ?? {})).toBe(Object.prototype);
    expect({}).not.toHaveProperty('team');
    expect(shown(fleet).plan).toContain('web-1');
  });
});
