import type { DurationMs } from '../../base/time.ts';
import { reservedNames } from '../../base/vocabulary.ts';
import type { AuditEntry } from '../../contract/admin/holds.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { stateText } from '../messages/sentences.ts';
import { heldName } from '../messages/stratum-reasons.ts';
import type { RolloutEvent } from '../model/events.ts';
import { type Block, headingBlock, instantText, tableBlock, textBlock } from './report-blocks.ts';

/** What operators have done. */
export interface ReportedActs {
  readonly status: RolloutStatus;
  /** The stored events, oldest first. */
  readonly events: readonly RolloutEvent[];
  /** Who held and released what, over all rollouts. */
  readonly holdings: readonly AuditEntry[];
}

/** What operators did to the whole rollout: approvals, pauses, resumes, retries, the end, holds and releases. */
export function peopleBlocks({ events, holdings, status }: ReportedActs): readonly Block[] {
  const acts = [
    ...events
      // The holdings name the stratum.
      .filter(({ event }) => !event.startsWith('upgrade.') && !event.startsWith('stratum.'))
      .map(({ wave, ...act }) => ({ ...act, about: wave === undefined ? '' : `: wave ${wave}` })),
    ...holdings.flatMap((entry) => {
      const about = heldSubject(entry, holdings, status);
      return about === undefined ? [] : [{ ...entry, about: `: ${about}` }];
    }),
  ];
  const rows = acts
    .filter(({ event, by }) => isPerson(by, event))
    .sort((one, other) => one.at - other.at)
    .map(({ at, event, by, about, reason }) => {
      const what = stateText(event.slice(event.indexOf('.') + 1));
      return [instantText(at), by, `${what}${about}`, reason];
    });
  const nobody =
    status.rollbackOf === null
      ? 'No operator acted.'
      : `Who asked for it is in the report of ${status.rollbackOf}.`;
  if (rows.length === 0) return [headingBlock('People'), textBlock(nobody)];
  return [headingBlock('People'), tableBlock(['when', 'who', 'what', 'reason'], rows, 'actions')];
}

// A hold of a group reaches its rollouts within seconds.
const sameActMs: DurationMs = 60_000;

/** Who ordered a rollback, and why, in the audit of its original; undefined for an upgrade. */
export function rollbackOrder(
  holdings: readonly AuditEntry[],
  { rollbackOf }: Pick<RolloutStatus, 'rollbackOf'>,
): AuditEntry | undefined {
  const [first] = holdings
    .filter(({ event, subject }) => event === 'rollout.rollingBack' && subject === rollbackOf)
    .sort((one, other) => one.at - other.at);
  return first;
}

/** What was retried, held or released, if it concerns this rollout: a stratum of it, or a group or its build while it ran. */
function heldSubject(
  entry: AuditEntry,
  holdings: readonly AuditEntry[],
  status: RolloutStatus,
): string | undefined {
  const { event, subject, at } = entry;
  const { id, targetBuild, createdAt, endedAt } = status;
  if (event === 'rollout.rollingBack') return entry === rollbackOrder(holdings, status) ? subject : undefined;
  const ofRollout = ` of ${id}`;
  // The rollout's own events have each collector, but not what was asked.
  if (event === 'rollout.retried')
    return subject.startsWith(`${id} `) ? subject.slice(id.length + 1) : undefined;
  if (event.startsWith('stratum.'))
    return subject.endsWith(ofRollout) ? heldName(subject.slice(0, -ofRollout.length)) : undefined;
  if (at < createdAt || (endedAt !== null && at > endedAt)) return undefined;
  if (event.startsWith('build.')) return subject === targetBuild ? `build ${subject}` : undefined;
  if (!event.startsWith('group.')) return undefined;
  // The same act on the stratum that the group is here.
  const isNamed = holdings.some(
    (each) =>
      each.event === event.replace('group.', 'stratum.') &&
      each.subject === `${subject}${ofRollout}` &&
      Math.abs(each.at - at) < sameActMs,
  );
  return isNamed ? undefined : `group ${subject}`;
}

function isPerson(by: string, event: string): boolean {
  const isDaemonStart = event === 'rollout.planned' && by === 'start';
  return !reservedNames.includes(by) && !isDaemonStart;
}
