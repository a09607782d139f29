import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { followFile } from '../../../../src/config/load/followed-file.ts';
import { aFolder } from '../../../support/a-folder.ts';

describe('followFile', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = aFolder();
    path = join(folder, 'upwave.yaml');
    writeFileSync(path, 'a: 1');
  });

  it('notices other content, however it came, until it is read', () => {
    const file = followFile(path);
    expect(file.isUnread()).toBe(false);
    const other = join(folder, 'next');
    writeFileSync(other, 'a: 2');
    renameSync(other, path);
    expect(file.isUnread()).toBe(true);
    file.noteReading();
    expect(file.isUnread()).toBe(false);
  });

  it('takes the same content for no change, and a file that is gone for one', () => {
    const file = followFile(path);
    writeFileSync(path, 'a: 1');
    expect(file.isUnread()).toBe(false);
    rmSync(path);
    expect(file.isUnread()).toBe(true);
  });

  it('leaves a pipe to the one who reads the config from it', () => {
    expect(followFile('/dev/null').isUnread()).toBe(false);
  });
});
