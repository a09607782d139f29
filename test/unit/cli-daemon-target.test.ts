import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withDaemon } from '../../src/cli/daemon-target.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { withSection } from '../support/config-fixtures.ts';

/** A config of a daemon that would listen there, and does not. */
function configOfDaemonAt(host: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'upwave-target-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'upwave.yaml');
  writeFileSync(path, withSection(`http: { host: "${host}", port: 1 }`));
  return path;
}

describe('a command that asks the daemon', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:1'],
    ['::1', 'http://[::1]:1'],
  ])('asks it where http.host says, and says where that was: %s', async (host, place) => {
    const asked = withDaemon({ config: configOfDaemonAt(host) }, (client) => client.listRollouts());
    await expect(asked).rejects.toMatchObject({
      exitCode: exitCodes.unreachable,
      message: expect.stringContaining(place),
    });
  });
});
