import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

// A room holds so many files side by side; more are two rooms.
const filesMax = 25;

// Fewer than this means that the search saw nothing, and would have praised us for it.
const filesMin = 80;

/** The rows of the table in src/README.md whose header begins with this word, cell by cell and without back quotes. */
function tableRows(header: string): readonly (readonly string[])[] {
  const text = readFileSync('src/README.md', 'utf8');
  const [table = ''] = text.slice(text.indexOf(`\n| ${header} |`) + 1).split('\n\n');
  const [, , ...rows] = table.split('\n').filter((line) => line.startsWith('|'));
  return rows.map((row) =>
    row
      .replaceAll('`', '')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const namesIn = (cell = '') => cell.split(', ').map((name) => name.replace(/(?<=.)\/$/, ''));

/** What a folder may import (a folder, or a room of it), and the libraries that it may import. */
const folders = new Map<
  string,
  { readonly imports: readonly string[]; readonly libraries: readonly string[] }
>();
for (const [layer, named, , imports, libraries] of tableRows('layer')) {
  const below = tableRows('layer').filter(([other]) => Number(other) < Number(layer));
  const allBelow = below.flatMap(([, names]) => namesIn(names));
  for (const folder of namesIn(named)) {
    const own = imports === 'all below' ? [...allBelow, ...namesIn(named)] : namesIn(imports);
    folders.set(folder, { imports: own, libraries: namesIn(libraries) });
  }
}

/** Folders that put the others together. */
const isAllBelow = new Set(
  tableRows('layer').flatMap(([, named, , imports]) => (imports === 'all below' ? namesIn(named) : [])),
);

/** What a room, such as `rollout/model`, may import of its own folder; `config` stands for the files in front of its rooms. */
const rooms = new Map(
  tableRows('room').map(([room = '', , imports]) => [namesIn(room)[0], namesIn(imports)]),
);

interface Import {
  readonly from: string;
  readonly to: string;
  /** Of the libraries, whose names are their paths. */
  readonly isLibrary: boolean;
}

describe('the layers of src/', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(tsx?|lua)$/.test(name),
  );
  const imports = files.filter((file) => !file.endsWith('.lua')).flatMap(importsOf);
  const asText = ({ from, to }: Import) => `${from} imports ${to}`;

  it('are read from src/README.md, and the imports from src/', () => {
    expect([folders.size, rooms.size]).toEqual([18, expect.toSatisfy((count: number) => count > 60)]);
    expect(files.length).toBeGreaterThanOrEqual(filesMin);
    expect(imports.filter(({ isLibrary }) => !isLibrary).length).toBeGreaterThan(filesMin);
  });

  it('import only folders that the table allows, and of the orchestrator the rooms that it names', () => {
    const wrong = imports.filter(({ from, to, isLibrary }) => {
      if (isLibrary || folderOf(from) === folderOf(to)) return false;
      const allowed = folders.get(folderOf(from))?.imports ?? [];
      return !allowed.includes(folderOf(to)) && !allowed.includes(`${folderOf(to)}/${roomOf(to)}`);
    });
    expect(wrong.map(asText)).toEqual([]);
  });

  it('import only rooms that the table allows, all of which are higher in the table', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (folderOf(from) !== folderOf(to) || roomOf(from) === roomOf(to)) return false;
      return !(rooms.get(rowOf(from)) ?? []).includes(roomOf(to));
    });
    expect(wrong.map(asText)).toEqual([]);
    const order = [...rooms.keys()];
    for (const [index, [room = '', allowed]] of [...rooms].entries())
      for (const other of allowed.filter((name) => name !== '–' && name !== '.'))
        expect(order.slice(0, index), room).toContain(`${folderOf(room)}/${other}`);
  });

  it('use each import that the table allows', () => {
    const isUsed = (from: string, to: string) =>
      imports.some((each) => each.from.startsWith(`${from}/`) && each.to.startsWith(`${to}/`));
    const ofFolders = [...folders].flatMap(([folder, { imports: allowed }]) =>
      isAllBelow.has(folder)
        ? []
        : allowed
            .filter((other) => other !== '–' && !isUsed(folder, other))
            .map((other) => `${folder}: ${other}`),
    );
    const ofRooms = [...rooms].flatMap(([room = '', allowed]) =>
      allowed
        .filter((other) => other !== '–' && other !== '.' && !isUsed(room, `${folderOf(room)}/${other}`))
        .map((other) => `${room}: ${other}`),
    );
    expect([...ofFolders, ...ofRooms]).toEqual([]);
  });

  it('have only rooms of the table, with at most 25 files', () => {
    const unknown = files.filter((file) => roomOf(file) !== '.' && !rooms.has(rowOf(file)));
    expect(unknown).toEqual([]);
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > filesMax).map(([room]) => room)).toEqual([]);
  });

  it('import only types from the contract into the core and the orchestrator', () => {
    const wrong = files.filter(
      (file) =>
        /^(?:rollout|orchestrator)\//.test(file) &&
        /^import (?!type )[^;]*\/contract\//m.test(readFileSync(`src/${file}`, 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it('import every library only where the table names it', () => {
    const wrong = imports.filter(
      ({ from, to, isLibrary }) => isLibrary && !folders.get(folderOf(from))?.libraries.includes(to),
    );
    expect(wrong.map(asText)).toEqual([]);
  });
});

/** What a file imports, types and later imports included; a comment or a text that looks like one is one. */
function importsOf(from: string): Import[] {
  const found = readFileSync(`src/${from}`, 'utf8').matchAll(
    /(?:^import|\bfrom|\bimport\()\s*'([\w@./:-]+)'/gm,
  );
  return [...found]
    .map(([, module = '']) => module)
    .filter((module) => !module.startsWith('node:'))
    .map((module) =>
      module.startsWith('.')
        ? { from, to: join(dirname(from), module), isLibrary: false }
        : { from, to: /^(?:@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? module, isLibrary: true },
    );
}

function folderOf(path: string): string {
  return path.split('/')[0] ?? '';
}

/** The sub-folder of its folder that a file stands in; Lua scripts of a room may stand in a folder of their own. */
function roomOf(path: string): string {
  const names = path.split('/').slice(1, -1);
  if (names.at(-1) === 'lua') names.pop();
  return names.join('/') || '.';
}

/** The room of a file as the table names it. */
function rowOf(path: string): string {
  return roomOf(path) === '.' ? folderOf(path) : `${folderOf(path)}/${roomOf(path)}`;
}
