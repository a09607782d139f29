import { type AnswerOf, call } from './api.ts';
import { byId, clock, make, named, row, showText } from './elements.ts';
import { askStart } from './start-dialog.ts';
import { badge } from './tones.ts';

type Policies = AnswerOf<'listPolicies'>;
type Policy = Policies['policies'][number];

/** The last scan of each policy, and rollouts whose policy is gone. */
export function showPolicies({ policies, orphans, configProblem }: Policies, refresh: () => void): void {
  showText(
    byId('config-problem'),
    configProblem === undefined
      ? ''
      : `The config file has errors. The daemon uses the last valid config. ${configProblem}`,
  );
  byId('policies').hidden = policies.length + orphans.length === 0;
  byId('policy-rows').replaceChildren(
    ...orphans.map(orphanRow),
    ...policies.map((policy) => policyRow(policy, refresh)),
  );
}

/** Lets the daemon read its config file again, and says what changed. */
export async function reloadConfig(refresh: () => void): Promise<void> {
  const note = byId('config-note');
  showText(note, 'reading …');
  try {
    showText(note, changesOf(await call('reloadConfig', { body: { reason: '' } })));
    refresh();
  } catch (error) {
    showText(note, error instanceof Error ? error.message : String(error));
  }
}

function changesOf({ kind, policies, needsRestart, rollouts }: AnswerOf<'reloadConfig'>): string {
  if (kind === 'unchanged') return 'nothing has changed';
  const changed = [
    ...policies.map(({ policy }) => policy),
    ...needsRestart.map((key) => `${key} (needs a restart)`),
  ];
  const waiting = rollouts.filter((each) => each.waiting.length > 0).map(({ rollout }) => rollout);
  const later =
    waiting.length === 0 ? '' : `; for the next rollout, plan and target of ${waiting.join(', ')}`;
  return `changed: ${changed.join(', ')}${later}`;
}

function policyRow({ policy, lastScan, nextScanAt, config }: Policy, refresh: () => void): HTMLElement {
  const failed = lastScan?.outcome === 'failed' ? [badge('failed'), ' '] : [];
  const start = make(
    'button',
    {
      type: 'button',
      'data-key': `start/${policy}`,
      'aria-label': `start ${policy}`,
      onclick: () => void askStart(policy, refresh),
    },
    'start …',
  );
  return row(
    named(policy),
    lastScan === null ? '–' : clock(lastScan.at),
    [configNote(config), ...failed, lastScan === null ? 'none yet' : lastScan.reason],
    nextScanAt === null ? '–' : clock(nextScanAt),
    start,
  );
}

function configNote({ kind, others }: Policy['config']): HTMLElement | null {
  if (kind === 'agreed') return null;
  const words =
    kind === 'outdated'
      ? `this daemon has an older config than ${others} other(s): they scan`
      : `${others} other daemon(s) have another config: this one scans`;
  return make('span', { class: 'late' }, `${words}. `);
}

function orphanRow({ id, policy, state }: Policies['orphans'][number]): HTMLElement {
  return row(named(policy), '–', [badge(state), ` ${id} waits: its policy is not in the config`], '–', null);
}
