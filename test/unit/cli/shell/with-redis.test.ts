import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import { withRedis } from '../../../../src/cli/shell/with-redis.ts';
import { aFolder } from '../../../support/a-folder.ts';

it('an embedded Redis that cannot write its data reports the directory and the reason', async () => {
  const folder = aFolder();
  // In the place of a folder that may not be written to: root may write anywhere.
  writeFileSync(join(folder, '.upwave'), '');
  const dataDir = join(folder, '.upwave', 'redis');
  await expect(withRedis('embedded', dataDir, () => undefined)).rejects.toMatchObject({
    name: 'CommandFailure',
    exitCode: exitCodes.usageOrConfig,
    message: expect.stringContaining(`cannot write to its data directory ${dataDir} (E`),
  });
});
