import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { confirmRollback } from '../../../../src/cli/rollouts/confirm-rollback.ts';
import type { RollbackPreview } from '../../../../src/contract/admin/verbs.ts';
import { aRollbackPreview, aRolloutStatus } from '../../../support/fake-operations.ts';

const builds = [441, 456, 506, 525, 403, 484, 361, 418, 533].map((number) => ({
  build: `19.${number}-2`,
  count: 4,
}));
const names = ['ip-10-5-2-191.example.com (had 19.227-15)', 'staging-queue-184 (had 19.182-43)'];
const reason = 'the service no longer offers the build they had';
const left = { kind: 'buildNotOffered', reason, count: 17, names } as const;

/** What is shown before the question. */
async function shown(
  columns: number | undefined,
  changes: Partial<RollbackPreview>,
  now = false,
): Promise<string[]> {
  const out = new PassThrough();
  const paint = (_format: unknown, text: string) => text;
  const output = { out, err: new PassThrough(), isLive: columns !== undefined, paint, columns };
  const client = { previewRollback: async () => aRollbackPreview(changes) };
  const input = Object.assign(new PassThrough(), { isTTY: true });
  input.end('n\n');
  const asked = confirmRollback(client, aRolloutStatus(), { json: false, now }, { input, output });
  await expect(asked).rejects.toThrow('nothing changed');
  return String(out.read()).trimEnd().split('\n');
}

describe('the preview of a rollback on the command line', () => {
  it('fits the terminal, and wraps below the text', async () => {
    const lines = await shown(80, { builds, leftBehind: [left] });
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines).toContain(
      'to        19.441-2 (4), 19.456-2 (4), 19.506-2 (4), 19.525-2 (4), 19.403-2 (4),',
    );
    expect(lines).toContain('          19.484-2 (4), 19.361-2 (4), 19.418-2 (4), 19.533-2 (4)');
    expect(lines).toContain('          ip-10-5-2-191.example.com (had 19.227-15), staging-queue-184 (had');
  });

  it('names the command that lists all that stay, where it names only some of them', async () => {
    const list = (lines: readonly string[]) => lines.filter((line) => line.startsWith('list '));
    expect(list(await shown(undefined, { leftBehind: [left] }))).toEqual([
      'list      once it has ended, all that stay: upwave upgrades production-20260302-1 --state succeeded,unconfirmed,timedOut --limit 100000',
    ]);
    expect(list(await shown(undefined, { leftBehind: [{ ...left, count: 2 }] }))).toEqual([]);
  });

  it('asks nothing, and confirms what was shown before, where the command names how many collectors', async () => {
    const [out, err, input] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const paint = (_format: unknown, text: string) => text;
    const client = { previewRollback: async () => aRollbackPreview({ collectors: 90 }) };
    const options = { json: false, collectors: 40 };
    const output = { out, err, isLive: false, paint, columns: undefined };
    const asked = await confirmRollback(client, aRolloutStatus(), options, { input, output });
    expect(asked).toMatchObject({ verb: 'rollback', shown: { collectors: 40 } });
    expect(String(err.read())).toContain('takes 90 collectors back');
  });

  it('names one collector in the singular', async () => {
    expect((await shown(80, { collectors: 1 }))[0]).toMatch(/takes 1 collector back$/);
  });

  it('shows what --now skips, and what it does not', async () => {
    const window = {
      isOpen: false,
      until: Date.now() + 3_600_000,
      reason: '',
      timeZone: 'UTC',
      ownZones: false,
    };
    const starts = async (changes: Partial<RollbackPreview>, now: boolean) => {
      const lines = await shown(undefined, changes, now);
      return lines.filter((line) => /^(--now|window|limits) /.test(line));
    };
    const limits = 'limits    50 at a time; 1 at a time for each fields.cluster';
    const kept = 'running upgrades still end first, and the canary still soaks';
    expect(await starts({}, false)).toEqual([limits]);
    expect(await starts({}, true)).toEqual([
      limits,
      `--now     changes nothing, because the policy has no windows, freezes or pace; ${kept}`,
    ]);
    expect(await starts({ window, perHour: 40 }, false)).toEqual([
      `${limits}; 40 an hour`,
      expect.stringMatching(/^window {4}closed: .*; --now ignores windows and freezes$/),
    ]);
    expect(await starts({ window, perHour: 40 }, true)).toEqual([
      `${limits}; 40 an hour`,
      `--now     ignores windows and freezes, and the pace of 40 an hour; ${kept}`,
    ]);
  });

  it('has one line for each fact without a terminal', async () => {
    const lines = await shown(undefined, { builds, leftBehind: [left] });
    expect(lines.filter((line) => line.startsWith('          '))).toEqual([]);
  });
});
