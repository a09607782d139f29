import { describe, expect, it } from 'vitest';
import { type Script, sendJson, sendText } from '../../../support/network/scripted-server.ts';
import { aCollectorApi } from '../../../support/setup/collector-api-setup.ts';

const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eabc\u061c\u200b\r\nfake line\u0000';

// The tests of each renderer hold that texts are escaped.
describe('collectors with hostile values', () => {
  const collector = (id: number, more: object) => ({
    ...{ id, name: `web-${id}`, collectorType: 'Installable', alive: true },
    ...{ collectorVersion: '19.441-2', osName: 'Linux', ...more },
  });

  /** Reads an inventory of these over real HTTP. The text is sent as it is: `__proto__` is lost by most who write JSON. */
  const readFleet = async (collectors: readonly object[] | string) => {
    const inventory = typeof collectors === 'string' ? collectors : JSON.stringify({ collectors });
    const script: Script = ({ query }, response) =>
      query.get('offset') === '0'
        ? sendText(response, 200, inventory, { 'content-type': 'application/json' })
        : sendJson(response, 200, { collectors: [] });
    const { fleet } = await aCollectorApi(script);
    const answer = await fleet.readFleet('19.500-1');
    if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
    return answer.value.collectors;
  };

  it('are selected by their exact name, and have no lone surrogate, at which scripts in Redis would fail', async () => {
    const half = 'a\ud83d';
    const whole = 'a\ufffd';
    const fleet = await readFleet([
      collector(1, { name: evil }),
      collector(2, { name: half, osName: half, fields: { [half]: half } }),
    ]);
    expect(fleet).toMatchObject([{ name: evil }, { name: whole, osName: whole, fields: { [whole]: whole } }]);
  });

  it('have their texts cut to a bounded length', async () => {
    const long = '😀'.repeat(2_000);
    const fleet = await readFleet([
      collector(1, { name: long, category: long, osName: long, fields: { team: long, [long]: 'x' } }),
      collector(2, { collectorVersion: long, hostName: long, timeZone: long, sourceSyncMode: long }),
    ]);
    expect(JSON.stringify(fleet).length).toBeLessThan(20_000);
    expect(fleet[0]?.name).toMatch(/^😀{511,512}…$/u);
    // Not even half a character is left over.
    expect(JSON.stringify(fleet)).not.toMatch(/\\ud[89ab]/i);
  });

  it('may have fields with the names of JavaScript properties, and of any type', async () => {
    const fields =
      '{"__proto__":{"team":"x"},"constructor":"c","toString":"t","odd":{"toString":1,"valueOf":1},"list":[1],"none":null,"team":7}';
    const whole = JSON.stringify(collector(1, { fields: 'HERE', __proto__: 'HERE' }));
    const [first] = await readFleet(
      `{"collectors":[${whole.replace('"HERE"', fields).replace('{', '{"__proto__":{"alive":false},')}]}`,
    );
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
  });
});
