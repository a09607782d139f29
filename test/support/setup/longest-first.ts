import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

// Those that take more than ten seconds, the longest first: by turns one that only computes, or waits, and one that lets
// several nights and processes run at once, since two of those hinder each other.
const longest = [
  'test/unit/simulation.test.ts',
  'test/integration/cli/run/run.test.ts',
  'test/unit/security-inputs.test.ts',
  'test/integration/cli/state/state.test.ts',
  'test/integration/cli/inventory/collectors.test.ts',
  'test/integration/daemon/secrets.test.ts',
  'test/integration/queue/refused-writes.test.ts',
  'test/integration/daemon/faults.test.ts',
  'test/integration/daemon/refused-writes.test.ts',
  'test/integration/daemon/crash.test.ts',
  'test/integration/daemon/watch.test.ts',
  'test/integration/daemon/policies.test.ts',
  'test/integration/daemon/verbs.test.ts',
];

/** Runs the longest files first, so that none of them is begun when the others are over. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      return place === -1 ? longest.length : place;
    };
    // A stable sort: the others stay as they are usually sorted, project by project.
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}
