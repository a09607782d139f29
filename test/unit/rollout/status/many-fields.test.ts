import { describe, expect, it } from 'vitest';
import { hashNumber } from '../../../../src/base/hash.ts';
import { runAtOnce } from '../../../../src/base/steps.ts';
import { formatAttributes, tabulateAttributes } from '../../../../src/rollout/model/attributes.ts';
import { findSharedAttribute } from '../../../../src/rollout/status/shared-attribute.ts';
import { aCollector } from '../../../support/builders.ts';

/** 800 collectors with 43 fields, where the field that matters comes last of equally frequent ones. */
const fleet = Array.from({ length: 800 }, (_, index) => {
  const id = index + 1;
  const noise = Array.from({ length: 42 }, (__, at) => [`a${at}`, `v${hashNumber(`${at}/${id}`) % 6}`]);
  const fields = { ...Object.fromEntries(noise), rack: `r${id % 25}` };
  return aCollector({ id, name: `${id % 16 === 3 ? 'legacy-db' : 'web'}-${id}`, fields });
});
const table = runAtOnce(tabulateAttributes(fleet));
const found = (isBad: (id: number) => boolean) => {
  const tried = fleet.map(({ id }) => id).slice(0, 200);
  const outcomes = {
    failed: new Set(tried.filter(isBad)),
    succeeded: new Set(tried.filter((id) => !isBad(id))),
  };
  return formatAttributes(findSharedAttribute(table, outcomes)?.attributes ?? []);
};

describe('what failures share in a fleet with 43 fields', () => {
  it('is the rack, after 8 failures', () => {
    expect(found((id) => id % 25 === 7)).toBe('fields.rack=r7');
  });

  it('is the prefix of the name, where the host says nothing', () => {
    expect(found((id) => id % 16 === 3)).toBe('namePrefix=legacy-db-');
  });
});
