import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommandFailure } from '../../../../src/cli/shell/command.ts';
import { checkBackupFile, readBackupParts, writeBackupFile } from '../../../../src/cli/state/backup-file.ts';
import type { BackupHeader, BackupPart } from '../../../../src/redis/backup/backup-lines.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'upwave-backup-'));
  file = join(folder, 'state.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const header: BackupHeader = {
  kind: 'header',
  format: 'upwave backup',
  version: 1,
  keyPrefix: 'upwave',
  takenAt: '2026-11-21T14:00:00.000Z',
};
const parts: readonly BackupPart[] = [
  { kind: 'part', key: 'upwave:{a}:active', type: 'string', expiresAt: null, values: ['a-20261121-1'] },
  // A separator at which some readers end a line.
  { kind: 'part', key: 'upwave:{a}:h', type: 'hash', expiresAt: 7, values: ['näme\u2028"', '\n'] },
  { kind: 'part', key: 'upwave:{a}:events', type: 'stream', expiresAt: null, values: ['1-1', 'event', '{}'] },
];

describe('a backup file', () => {
  it('gives back what was written, and has its name only when it is whole', async () => {
    await write();
    expect(await checkBackupFile(file, 'upwave')).toEqual(header);
    expect(await partsIn(file)).toEqual(parts);
    expect(readdirSync(folder)).toEqual(['state.jsonl']);
    // Names and fields of a fleet are nobody else's.
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is left as it was when writing a new one fails', async () => {
    await write();
    const failing = async function* () {
      yield* parts;
      throw new Error('Redis went away');
    };
    await expect(writeBackupFile(file, header, failing())).rejects.toThrow('Redis went away');
    expect(await partsIn(file)).toEqual(parts);
    expect(readdirSync(folder)).toEqual(['state.jsonl']);
  });

  it('that is cut off anywhere is refused', async () => {
    await write();
    const text = readFileSync(file, 'utf8');
    // Without its last line break it is still whole.
    for (let length = 0; length < text.length - 1; length += 1) {
      writeFileSync(file, text.slice(0, length));
      expect(await refusal(), `${length} of ${text.length}`).toMatch(
        /is empty|is no backup|cut off|is not what was written/,
      );
    }
  });

  it.each([
    { change: (text: string) => text.replace('20261121-1', '20261121-2'), says: /is not what was written/ },
    { change: (text: string) => text.replace(/.*:active.*\n/, ''), says: /is not what was written/ },
    { change: (text: string) => `${text}${text}`, says: /line 6 is none of a backup/ },
    { change: (text: string) => `${text}{}\n`, says: /line 6 is none of a backup/ },
    { change: (text: string) => text.replace('"type":"hash"', '"type":"list"'), says: /line 3 is none/ },
    { change: (text: string) => text.replace('"näme', '"more","näme'), says: /line 3 is none/ },
    { change: (text: string) => text.replace('"version":1', '"version":2,"new":true'), says: /version 2/ },
    { change: () => 'once upon a time\n', says: /is no backup of upwave/ },
    { change: () => '{"kind":"rollout"}\n', says: /is no backup of upwave/ },
    { change: () => '', says: /is empty/ },
  ])('that was changed ($says) is refused in one line', async ({ change, says }) => {
    await write();
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    expect(await refusal()).toMatch(says);
  });

  it('of another installation is refused, and names both', async () => {
    await write();
    expect(await refusal('other')).toBe(
      `${file} holds keys of upwave, and the config's redis.keyPrefix is other`,
    );
  });

  it('that cannot be read, or written, is named', async () => {
    expect(await refusal()).toBe(`cannot read ${file}: ENOENT`);
    file = join(folder, 'no', 'such', 'folder');
    await expect(write()).rejects.toThrow(`cannot write ${file}: ENOENT`);
  });
});

function write(): Promise<void> {
  const all = async function* () {
    yield* parts;
  };
  return writeBackupFile(file, header, all());
}

async function partsIn(path: string): Promise<readonly BackupPart[]> {
  const found: BackupPart[] = [];
  for await (const part of readBackupParts(path)) found.push(part);
  return found;
}

/** What an operator is told; one line. */
async function refusal(keyPrefix = 'upwave'): Promise<string> {
  try {
    await checkBackupFile(file, keyPrefix);
  } catch (error) {
    expect(error).toBeInstanceOf(CommandFailure);
    const { message, exitCode } = error as CommandFailure;
    expect(exitCode).toBe(2);
    expect(message).not.toContain('\n');
    return message;
  }
  throw new Error('it was taken');
}
