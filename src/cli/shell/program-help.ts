import type { Command } from 'commander';

/** Examples for each command, by its words without `upwave`. */
const examples: Readonly<Record<string, readonly string[]>> = {
  '': ['upwave demo', 'upwave init', 'upwave plan', 'upwave run', 'upwave status'],
  run: ['upwave run --config /etc/upwave/upwave.yaml', 'upwave run --once --redis embedded'],
  demo: ['upwave demo', 'upwave demo --keep'],
  init: ['upwave init', 'UPWAVE_ACCESS_KEY=... upwave init --yes --access-id su123 --base-url <url>'],
  service: ['upwave service --access-id demo --access-key demo-key --speed 100'],
  status: ['upwave status', 'upwave status production', 'upwave status --watch'],
  upgrades: [
    'upwave upgrades production --state failed',
    'upwave upgrades --cause "permission denied" --wave canary',
    'upwave upgrades production --match web --json',
  ],
  events: ['upwave events production --since 2h', 'upwave events --type upgrade.failed --collector web-7'],
  audit: [
    'upwave audit --since 7d',
    'upwave audit --type abort --policy production',
    'upwave audit --by alice --json',
  ],
  list: ['upwave list', 'upwave list production --limit 5'],
  explain: ['upwave explain prod-web-014'],
  approve: [
    'upwave approve production',
    'upwave approve production --wave rest --reason "canary is healthy"',
  ],
  pause: ['upwave pause production --reason "incident 42"'],
  resume: ['upwave resume production', 'upwave resume production --yes'],
  rollback: ['upwave rollback production', 'upwave rollback production --collectors 40 --reason "bad build"'],
  retry: ['upwave retry production --cause timedOut'],
  hold: [
    'upwave hold prod-web-014 --reason "broken disk"',
    'upwave hold 19.455-2',
    'upwave hold "Linux / amd64 / 19.441-2"',
  ],
  release: ['upwave release 19.455-2'],
  start: ['upwave start production'],
  plan: ['upwave plan', 'upwave plan production --members'],
  diff: ['upwave diff', 'upwave diff production --members'],
  'config check': [
    'upwave config check',
    'upwave config check --json',
    'upwave config check --fleet',
    'upwave config check --no-secrets',
  ],
  builds: ['upwave builds', 'upwave builds --history'],
  collectors: ['upwave collectors list', 'upwave collectors show prod-web-014'],
  export: ['upwave export production-20261122-1 > rollout.jsonl'],
  completion: [
    'source <(upwave completion bash)',
    'upwave completion zsh > ~/.zfunc/_upwave',
    'upwave completion fish > ~/.config/fish/completions/upwave.fish',
  ],
};

const exitCodes = [
  '0  done',
  '1  finished with failures, or the answer was no',
  '2  wrong usage or config',
  '3  held, or needs a person or an answer',
  '4  no answer from the service, Redis or the daemon',
];

const daemonEnvironment = ['UPWAVE_URL    the URL of the daemon, without --url', 'UPWAVE_TOKEN  its token'];
const serviceEnvironment = [
  'UPWAVE_RETRY_FOR  how long to retry a read that gets no answer (30s)',
  'HTTPS_PROXY       the proxy for requests; also HTTP_PROXY and NO_PROXY',
  'and the variables that the config names',
];

/** Adds examples, environment and exit codes to the help of each command. */
export function completeHelp(program: Command): void {
  for (const { command, words } of commandsOf(program)) {
    command.addHelpText('after', () => afterHelp(command, words));
  }
}

export interface NamedCommand {
  readonly command: Command;
  readonly words: readonly string[];
}

/** All commands, the program itself first. */
export function commandsOf(command: Command, words: readonly string[] = []): readonly NamedCommand[] {
  const below = command.commands.flatMap((each) => commandsOf(each, [...words, each.name()]));
  return [{ command, words }, ...below];
}

function afterHelp(command: Command, words: readonly string[]): string {
  const asksDaemon = command.options.some(({ long }) => long === '--url');
  const asksService = command.options.some(({ long }) => long === '--account') || !asksDaemon;
  const environment = [...(asksDaemon ? daemonEnvironment : []), ...(asksService ? serviceEnvironment : [])];
  const ownExamples = examples[words.join(' ')] ?? [];
  return [
    ...(ownExamples.length === 0 ? [] : ['', 'Examples:', ...ownExamples.map((line) => `  $ ${line}`)]),
    ...['', 'Environment:', ...environment.map((line) => `  ${line}`)],
    ...['', 'Exit codes:', ...exitCodes.map((line) => `  ${line}`)],
  ].join('\n');
}
