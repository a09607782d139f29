import { spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { manPage } from '../../../src/cli/man-page.ts';
import { makeProgram } from '../../../src/cli/program.ts';
import { makeSafeStreams } from '../../../src/cli/shell/console-output.ts';

const groff = spawnSync('groff', ['--version']).status === 0;

/** A terminal's text of it: without underlines, bold type and hyphens at the ends of lines. */
function shown(): { readonly text: string; readonly warnings: string } {
  const { stdout, stderr } = spawnSync('groff', ['-man', '-Tascii', '-P-cbou', '-ww', '-rLL=200n'], {
    input: manPage(),
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
    const { text, warnings } = shown();
    expect(warnings).toBe('');
    expect(text).toContain('-c, --config <file>');
    expect(text).toContain('Upgrades a fleet of installed data collectors');
  });
});
