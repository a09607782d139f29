import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import { withRedis } from '../../../../src/cli/shell/with-redis.ts';
import { aFolder } from '../../../support/a-folder.ts';

it('an embedded Redis whose data a running upwave uses is a failure without a stack', async () => {
  const busy = createServer((socket) => socket.end('-NOAUTH Authentication required.\r\n'));
  onTestFinished(() => void busy.close());
  await once(busy.listen(0, '127.0.0.1'), 'listening');
  const dataDir = aFolder();
  writeFileSync(join(dataDir, 'embedded-redis.port'), String((busy.address() as AddressInfo).port));
  await expect(withRedis('embedded', dataDir, () => undefined)).rejects.toMatchObject({
    name: 'CommandFailure',
    exitCode: exitCodes.unreachable,
    message: expect.stringMatching(/another upwave uses .*; stop the daemon first$/),
  });
});

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
