import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

// What is about upwave as a whole stands right in `test/unit`; what starts services, daemons and processes is in
// `test/integration`.
const folders = [/\/test\/unit\/[^/]+$/, /\/test\/integration\/(cli|daemon)\//, /\/test\/integration\//];

/**
 * Runs the longest files first, so that none of them begins when the others are over: by folder, and in each as vitest
 * sorts them, which is by the durations of the last run, or by size where there was none.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = folders.findIndex((folder) => folder.test(moduleId));
      return place === -1 ? folders.length : place;
    };
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}
