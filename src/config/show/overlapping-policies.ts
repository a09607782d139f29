import type { Policy, Selection, Selector } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';

/** Two policies of one config that claim the same collectors. */
export interface OverlappingPolicies {
  readonly first: string;
  readonly second: string;
  /** The overlap in words. */
  readonly words: string;
}

/**
 * Finds policies that certainly claim the same collectors in every fleet, because their selections are equal. Each policy is
 * reported once, with the first equal one. Other policies may overlap too, which only a fleet shows.
 */
export function findOverlappingPolicies(policies: readonly Policy[]): readonly OverlappingPolicies[] {
  const firstBySelection = new Map<string, string>();
  return policies.flatMap(({ name, select }) => {
    const selection = meaningOf(select);
    if (selection === undefined) return [];
    const first = firstBySelection.get(selection);
    if (first === undefined) {
      firstBySelection.set(selection, name);
      return [];
    }
    const words = `the policies ${quote(first)} and ${quote(name)} select the same collectors; each collector goes to the policy that plans it first`;
    return [{ first, second: name, words }];
  });
}

/** A canonical text: equal for selections with the same meaning; undefined for a selection without any collector. */
function meaningOf({ include, exclude }: Selection): string | undefined {
  const excluded = exclude.map(selectorMeaning);
  if (excluded.includes(everyCollector)) return undefined;
  return JSON.stringify([selectorMeaning(include), [...new Set(excluded)].sort()]);
}

function selectorMeaning({ fields = {}, ...keys }: Selector): string {
  const fieldEntries = Object.entries(fields).map(
    ([field, patterns]) => [`fields.${field}`, patterns] as const,
  );
  return JSON.stringify(
    [...Object.entries(keys), ...fieldEntries]
      .map(([key, value]) => [key, Array.isArray(value) ? valuesMeaning(value) : value] as const)
      .filter(([, value]) => value !== anything)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

const everyCollector = '[]';
const anything = '*';

/** Globs ignore case, and `*` also matches an empty text. */
function valuesMeaning(values: ReadonlyArray<string | number>): ReadonlyArray<string> | typeof anything {
  const meanings = values.map((value) => {
    const text = String(value);
    return /^\/.*\/i?$/s.test(text) ? text : text.toLowerCase().replaceAll(/\*+/g, '*');
  });
  return meanings.includes(anything) ? anything : [...new Set(meanings)].sort();
}
