import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aRolloutStatus, makeFakeOperations } from '../../../support/fake-operations.ts';
import { callUpwave } from '../../../support/night/upwave-call.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';

it('`report` prints what the daemon writes as Markdown, or writes a file of HTML', async () => {
  const status = aRolloutStatus();
  const api = await startFakeAdminApi(makeFakeOperations({ rollouts: [status] }));
  onTestFinished(() => api.close());
  const printed = await callUpwave('report', 'production', '--url', api.url);
  expect([printed.code, printed.out]).toEqual([0, `md of ${status.id}\n`]);
  const out = join(mkdtempSync(join(tmpdir(), 'upwave-report-')), 'report.html');
  const written = await callUpwave('report', '--format', 'html', '--out', out, '--url', api.url);
  expect([written.code, written.out]).toEqual([0, '']);
  expect(readFileSync(out, 'utf8')).toBe(`html of ${status.id}\n`);
});
