import { spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { docsManPage } from '../../../src/cli/docs-man-page.ts';
import { manPage } from '../../../src/cli/man-page.ts';
import { makeProgram } from '../../../src/cli/program.ts';
import { makeSafeStreams } from '../../../src/cli/shell/console-output.ts';
import { guideGroups } from '../../../src/docs/guide-list.ts';
import { loadGuide } from '../../../src/docs/load-guides.ts';

const groff = spawnSync('groff', ['--version']).status === 0;

/** A terminal's text of it: without underlines, bold type and hyphens at the ends of lines. */
function shown(page: string): { readonly text: string; readonly warnings: string } {
  const { stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-P-cbou', '-ww', '-rLL=200n'], {
    input: page,
    encoding: 'utf8',
  });
  return { text: stdout, warnings: stderr };
}

function leaves(command: Command, parents: readonly string[] = []): string[] {
  return command.commands.flatMap((each) => {
    const name = [...parents, each.name()];
    return each.commands.length > 0 ? leaves(each, name) : [name.join(' ')];
  });
}

describe('the manual page', () => {
  it('has a section for every command and a line for every exit code', () => {
    const program = makeProgram(makeSafeStreams(process), false, () => undefined);
    const page = manPage().replaceAll('\\-', '-');
    const commands = leaves(program);
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((name) => !new RegExp(`^\\.SS ${name}( |$)`, 'm').test(page))).toEqual([]);
    for (const code of [0, 1, 2, 3, 4]) expect(page).toContain(`\n.B ${code}\n`);
  });

  it.skipIf(!groff)('is shown by groff without a warning (skipped where groff is not installed)', () => {
    const { text, warnings } = shown(manPage());
    expect(warnings).toBe('');
    expect(text).toContain('-c, --config <file>');
    expect(text).toContain('Upgrades a fleet of installed data collectors');
  });
});

describe('the manual page with the guides', () => {
  it('has each guide, and its text as it is laid out', () => {
    const page = docsManPage();
    for (const { name } of guideGroups.flatMap(({ guides }) => guides))
      expect(page).toContain(`\n.SH ${loadGuide({ name, answers: '' }).title.replaceAll('-', '\\-')}\n`);
    expect(page).toContain('\n.SS UpwaveNoProgress\n.nf\n');
  });

  it.skipIf(!groff)('is shown by groff without a warning (skipped where groff is not installed)', () => {
    const { text, warnings } = shown(docsManPage());
    expect(warnings).toBe('');
    expect(text).toContain('ACL SETUSER upwave reset on >CHANGE_ME');
  });
});
