import { describe, expect, it } from 'vitest';
import { findOverlappingPolicies } from '../../../../src/config/show/overlapping-policies.ts';
import { readConfig } from '../../../support/config-fixtures.ts';

/** Policies called a, b, c… with these selections. */
function overlapsOf(...selections: readonly string[]) {
  const rollouts = selections.map(
    (select, index) => `  - name: ${String.fromCodePoint(97 + index)}\n    select: ${select}\n`,
  );
  const service = 'service: { baseUrl: https://api.example.com/api, accessId: id, accessKey: key }\n';
  return findOverlappingPolicies(readConfig(`${service}rollouts:\n${rollouts.join('')}`).rollouts);
}
const pairsOf = (...selections: readonly string[]) =>
  overlapsOf(...selections).map(({ first, second }) => `${first}${second}`);

describe('findOverlappingPolicies', () => {
  it('names policies that select exactly the same collectors', () => {
    const words =
      'the policies "a" and "b" select the same collectors; each collector goes to the policy that plans it first';
    expect(overlapsOf('{}', '{}')).toEqual([{ first: 'a', second: 'b', words }]);
  });

  it('names each policy once, with the first one that it equals', () => {
    const one = '{ include: { osName: Linux } }';
    expect(pairsOf(one, '{}', one, one, '{}')).toEqual(['ac', 'ad', 'be']);
  });

  it.each([
    ['{}', '{ include: { name: "*", category: [a, "**"], fields: { team: "*" } } }'],
    ['{ include: { name: [a, b], id: 1 } }', '{ include: { id: [1, 1], name: [B, a, b] } }'],
    ['{ include: { fields: { x: 1a, y: 2a } } }', '{ include: { fields: { y: 2a, x: 1a } } }'],
    ['{ exclude: [{ name: a }, { osName: b }] }', '{ exclude: [{ osName: B }, { name: a }, { name: A }] }'],
    ['{}', '{ exclude: [{ name: "collector_container-*" }, { osName: "mac*" }] }'],
    ['{ include: { ephemeral: true } }', '{ include: { ephemeral: true } }'],
    ['{ include: { version: ">=19.1-1" } }', '{ include: { version: [">=19.1-1"] } }'],
  ])('sees that %s and %s mean the same', (one, other) => {
    expect(pairsOf(one, other)).toEqual(['ab']);
  });

  it.each([
    ['{}', '{ include: { osName: Linux } }'],
    ['{}', '{ exclude: [] }'],
    ['{ include: { name: a } }', '{ include: { category: a } }'],
    ['{ include: { name: a } }', '{ include: { fields: { name: a } } }'],
    ['{ include: { name: /a/ } }', '{ include: { name: /A/ } }'],
    ['{ include: { name: /a/ } }', '{ include: { name: /a/i } }'],
    ['{ include: { ephemeral: true } }', '{ include: { ephemeral: false } }'],
    ['{ include: { ephemeral: false } }', '{}'],
    ['{ include: { name: [a, b] } }', '{ include: { name: [a] } }'],
    ['{ include: { id: [1] } }', '{ include: { id: [2] } }'],
    ['{ exclude: [{ name: a, osName: b }] }', '{ exclude: [{ name: a }, { osName: b }] }'],
    // Neither has any collector.
    ['{ exclude: [{ name: "*" }] }', '{ exclude: [{ name: "*" }] }'],
  ])('does not report %s and %s', (one, other) => {
    expect(pairsOf(one, other)).toEqual([]);
  });
});
