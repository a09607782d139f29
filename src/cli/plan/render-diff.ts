import { someNames } from '../../base/names.ts';
import { toPrintable } from '../../base/safe-text.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { leftOutText, noTargetText } from '../../rollout/messages/exclusions.ts';
import { counted, stateText } from '../../rollout/messages/sentences.ts';
import type { NoTarget } from '../../rollout/model/left-out.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import {
  groupByKind,
  type NamedCollector,
  type PlanDifference,
} from '../../rollout/planning/plan-difference.ts';
import { fitLines, usualWidth } from '../rollouts/fit-lines.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';

/** A new plan of a policy beside its running or last rollout. */
export type PolicyDiff = {
  readonly policy: string;
  /** undefined: the policy has had no rollout. */
  readonly rollout: RolloutStatus | undefined;
} & (
  | { readonly kind: 'noTarget'; readonly why: NoTarget }
  | { readonly kind: 'compared'; readonly plan: Plan; readonly difference: PlanDifference }
);

/** How a rollout that starts now would differ from the compared one, one line for each kind of difference. */
export function renderDiff(
  diff: PolicyDiff,
  { paint, columns = usualWidth }: Pick<ConsoleOutput, 'paint' | 'columns'>,
): string {
  const { policy, rollout } = diff;
  const width = { paint, width: columns, labelColumns };
  const line = (label: string, ...parts: readonly string[]) => fitLines(label, parts, width);
  const beside =
    rollout === undefined
      ? 'no rollout yet: compared with nothing'
      : `compared with ${rollout.id} (${stateText(rollout.state)})`;
  if (diff.kind === 'noTarget')
    return [`${policy}   ${beside}`, ...line('target', noTargetText(diff.why))].join('\n');
  const { plan, difference } = diff;
  const { touched, done, inFlight, added, dropped, moved, same } = difference;
  const waves = plan.waves.map(({ name, members }) => `${name} ${members.length}`).join(', ');
  const groups = (label: string, all: PlanDifference['dropped']) =>
    all.flatMap(({ kind, collectors }, index) =>
      line(index === 0 ? label : '', withNames(leftOutText[kind], collectors)),
    );
  const rows = [
    ...line('upgrade', counted(touched, 'collector'), ...progressText({ done, inFlight })),
    ...line('waves', waves),
    ...(rollout === undefined ? [] : line('same', `${same} keep their wave`)),
    ...(added.length === 0 ? [] : line('new', withNames('', added))),
    ...groups('gone', dropped),
    ...moved.flatMap(({ from, to, collectors }, index) =>
      line(index === 0 ? 'moved' : '', withNames(`${from} → ${to}`, collectors)),
    ),
    ...groups('left out', leftOutOf(plan)),
  ];
  const head = [`→ ${targetText(plan, rollout)}`, `plan ${plan.hash}`, beside];
  return [...fitLines(policy, head, { ...width, labelColumns: policy.length + 1 }), ...rows].join('\n');
}

const labelColumns = 10;

/** Every collector that differs, on a line of its own; empty without one. */
export function renderDifferent(diff: PolicyDiff): readonly string[] {
  if (diff.kind === 'noTarget') return [];
  const { added, dropped, moved } = diff.difference;
  return [
    ...added.map((each) => `  new  ${collectorText(each)}`),
    ...dropped.flatMap(({ kind, collectors }) =>
      collectors.map((each) => `  gone  ${collectorText(each)}: ${leftOutText[kind]}`),
    ),
    ...moved.flatMap(({ from, to, collectors }) =>
      collectors.map((each) => `  moved  ${collectorText(each)}: ${from} → ${to}`),
    ),
  ].map(toPrintable);
}

function collectorText({ id, name }: NamedCollector): string {
  return `${id} ${name}`;
}

/** The same for programs: every collector that differs, by id and name. */
export function diffJson(diff: PolicyDiff): unknown {
  const { policy, rollout } = diff;
  const beside = {
    policy,
    rollout: rollout?.id ?? null,
    state: rollout?.state ?? null,
    targetBefore: rollout?.targetBuild ?? null,
  };
  if (diff.kind === 'noTarget')
    return { ...beside, targetBuild: null, kind: diff.why.kind, reason: noTargetText(diff.why) };
  const { plan, difference } = diff;
  return {
    ...beside,
    targetBuild: plan.targetBuild,
    hash: plan.hash,
    waves: plan.waves.map(({ name, members }) => ({ name, size: members.length })),
    ...difference,
    leftOut: leftOutOf(plan).map(({ kind, collectors }) => ({
      kind,
      reason: leftOutText[kind],
      count: collectors.length,
      names: collectors.slice(0, namesMax).map(({ name }) => name),
    })),
  };
}

const namesMax = 5;

function leftOutOf({ leftOut }: Plan): PlanDifference['dropped'] {
  const kinds = new Map(leftOut.map(({ collector, kind }) => [collector.id, kind]));
  const all = leftOut.map(({ collector }) => collector);
  return groupByKind(all, ({ id }) => kinds.get(id) ?? 'notSelected');
}

function targetText({ targetBuild }: Plan, rollout: RolloutStatus | undefined): string {
  const before = rollout?.targetBuild ?? targetBuild;
  return before === targetBuild ? targetBuild : `${targetBuild} (was ${before})`;
}

function progressText({ done, inFlight }: Pick<PlanDifference, 'done' | 'inFlight'>): readonly string[] {
  return [
    ...(done === 0 ? [] : [`${done} upgraded already`]),
    ...(inFlight === 0 ? [] : [`${inFlight} in flight`]),
  ];
}

/** `not alive: 3 (web-1, web-2, web-3)`. */
function withNames(what: string, collectors: readonly NamedCollector[]): string {
  const names = `${collectors.length} (${someNames(collectors.map(({ name }) => name))})`;
  return what === '' ? names : `${what}: ${names}`;
}
