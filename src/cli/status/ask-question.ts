import type { StartPreview } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { groupToHold } from '../../rollout/decision/group-to-hold.ts';
import { stateText } from '../../rollout/messages/sentences.ts';
import { formatAttributes } from '../../rollout/model/attributes.ts';
import { releasedMax } from '../../rollout/status/command-for.ts';
import { askedNow } from '../../rollout/status/legal-verbs.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import { nothingText } from '../rollouts/confirm-verb.ts';
import { dueSteps, type Released } from '../rollouts/due-steps.ts';
import { chosenRow, type Pressed, type ScreenState } from './screen-state.ts';

/** Asks for the reason of a verb. Only enter acts then. */
export function askVerb(state: ScreenState, status: RolloutStatus | undefined, verb: RolloutVerb): Pressed {
  if (status === undefined) return { state };
  const asked = status.verbs.includes(verb) ? askedNow(status, verb) : undefined;
  if (asked === undefined) return { state: { ...state, message: nothingText(status, verb) } };
  const typing = { what: 'verb', text: '', asked, status } as const;
  return { state: { ...state, openId: status.id, typing, message: undefined } };
}

/** Asks for the reason to hold the group that explains the failures. Only enter acts then. */
export function askHold(state: ScreenState, status: RolloutStatus | undefined): Pressed {
  if (status === undefined) return { state };
  const group = groupToHold(status);
  const { sharedAttribute: shared, planned } = status;
  if (group === undefined || shared === null)
    return { state: { ...state, message: nothingToHoldText(status) } };
  const count = Math.round(shared.share * planned);
  const typing = { what: 'hold', text: '', group, count } as const;
  return { state: { ...state, openId: status.id, typing, message: undefined } };
}

/** Why there is no group to hold. */
function nothingToHoldText({ id, state, endedAt, sharedAttribute: shared, strata }: RolloutStatus): string {
  if (endedAt !== null) return `${id} is ${stateText(state)}`;
  const group = shared === null ? undefined : formatAttributes(shared.attributes);
  if (strata.held.some(({ label }) => label === group)) return `group ${group} is held already`;
  return `no group of collectors explains the failures of ${id}`;
}

/** Asks for the reason to release what is held. Only enter acts then. */
export function askRelease(state: ScreenState, status: RolloutStatus | undefined): Pressed {
  if (status === undefined) return { state };
  const released = releasedFrom(status);
  if (released === undefined || released.subjects.length > releasedMax)
    return { state: { ...state, message: nothingToReleaseText(status, released) } };
  const typing = { what: 'release', text: '', released } as const;
  return { state: { ...state, openId: status.id, typing, message: undefined } };
}

/** What has to be released first, else the held build, else the held strata: those of the daemon before those of operators. */
function releasedFrom(status: RolloutStatus): Released | undefined {
  const { buildHold, strata, endedAt } = status;
  if (endedAt !== null) return undefined;
  const due = dueSteps(status).find((step) => step.kind === 'release' || step.kind === 'releaseFirst');
  if (due !== undefined) return due.released;
  if (buildHold !== null) return { of: 'build', subjects: [buildHold.build] };
  // An operator holds on purpose, so such a hold is not released together with others.
  const ofDaemon = strata.held.filter(({ by }) => by === 'daemon');
  const held = ofDaemon.length > 0 ? ofDaemon : strata.held;
  return held.length === 0 ? undefined : { of: 'strata', subjects: held.map(({ label }) => label) };
}

/** Why there is no release to ask for. */
function nothingToReleaseText({ id, state, endedAt }: RolloutStatus, released: Released | undefined): string {
  if (endedAt !== null) return `${id} is ${stateText(state)}`;
  if (released === undefined) return `nothing of ${id} is held`;
  return `${released.subjects.length} strata of ${id} are held; \`upwave holds\` lists them`;
}

/** Asks for the plan that a start of the policy would have, and then whether to start it. */
export function askStart(state: ScreenState): Pressed {
  const row = chosenRow(state);
  if (row === undefined) return { state };
  const { policy, needs } = row;
  if (needs === undefined) return { state: { ...state, message: `${policy} does not wait for a start` } };
  const typing = { what: 'start', text: '', policy, preview: undefined } as const;
  return { state: { ...state, typing, message: undefined }, wish: { kind: 'previewStart', policy } };
}

/** Shows the plan that was read, or why there is none, unless the question was left meanwhile. */
export function withPreview(
  state: ScreenState,
  policy: string,
  read: { readonly value: StartPreview } | { readonly message: string },
): ScreenState {
  const { typing } = state;
  if (typing?.what !== 'start' || typing.policy !== policy || typing.preview !== undefined) return state;
  return 'value' in read
    ? { ...state, typing: { ...typing, preview: read.value } }
    : { ...state, typing: undefined, message: read.message };
}
