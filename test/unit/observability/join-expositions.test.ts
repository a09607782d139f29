import { describe, expect, it } from 'vitest';
import { joinExpositions } from '../../../src/observability/join-expositions.ts';

describe('joined expositions', () => {
  it('have one block for each metric, with the series of all', () => {
    const one =
      '# HELP up Answers.\n# TYPE up gauge\nup{account="eu"} 1\n\n# HELP only Here.\n# TYPE only counter\nonly 3\n';
    const other = '# HELP up Answers.\n# TYPE up gauge\nup{account="us"} 0\n';
    expect(joinExpositions([one, other])).toBe(
      '# HELP up Answers.\n# TYPE up gauge\nup{account="eu"} 1\nup{account="us"} 0\n\n# HELP only Here.\n# TYPE only counter\nonly 3\n',
    );
  });
});
