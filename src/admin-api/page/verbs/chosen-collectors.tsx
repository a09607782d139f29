import { ActButton } from '../parts/act-button.tsx';
import { type Collector, callDaemon, type Rollout } from '../parts/call.ts';
import { openQuestion } from '../parts/dialog.tsx';
import { holds, tookPlace } from '../parts/live.ts';
import { failedOf, stateGroups } from '../parts/progress.tsx';
import { problemText } from '../parts/reading.ts';
import { countText, numberText } from '../parts/tones.tsx';

/** The maximum of one request of the API, too. */
const chosenMax = 1_000;
const namesMax = 5;

const failedStates = stateGroups.find(({ name }) => name === 'failed')?.states ?? [];

/** What can be done with the chosen collectors. @param then runs after something was done */
export function ChosenVerbs({
  rollout,
  chosen,
  then,
}: {
  readonly rollout: Rollout | undefined;
  readonly chosen: readonly Collector[];
  readonly then: () => void;
}) {
  const heldIds = new Set(holds.value?.collectors.map(({ collectorId }) => collectorId));
  const held = chosen.filter(({ collectorId }) => heldIds.has(collectorId));
  const free = chosen.filter(({ collectorId }) => !heldIds.has(collectorId));
  const failed = chosen.filter(({ state }) => failedStates.includes(state));
  const canRetry = rollout?.verbs.includes('retry') === true && failed.length > 0;
  if (chosen.length > chosenMax) return <span>Choose at most {numberText(chosenMax)}.</span>;
  return (
    <>
      {free.length === 0 ? null : (
        <ActButton onClick={() => askEach('hold', free, then)}>hold {numberText(free.length)}</ActButton>
      )}
      {held.length === 0 ? null : (
        <ActButton onClick={() => askEach('release', held, then)}>
          release {numberText(held.length)}
        </ActButton>
      )}
      {rollout !== undefined && canRetry ? (
        <ActButton onClick={() => askRetryOf(rollout, failed, then)}>
          retry {numberText(failed.length)} failed
        </ActButton>
      ) : null}
    </>
  );
}

const consequences = {
  hold: 'None of their upgrades starts, under any policy, until an operator releases them. Running ones are watched to their end.',
  release: 'They may be upgraded again. A collector that left a rollout returns with the next scan.',
} as const;

/** One request for each collector. After a failure, the next try continues with the rest. */
function askEach(verb: 'hold' | 'release', chosen: readonly Collector[], then: () => void): void {
  const done = new Set<number>();
  const operation = verb === 'hold' ? 'holdSubject' : 'releaseSubject';
  openQuestion({
    title: `${verb === 'hold' ? 'Hold' : 'Release'} ${countText(chosen.length, 'collector')}`,
    label: `${verb} ${numberText(chosen.length)}`,
    content: (
      <ul>
        <li>{namesOf(chosen)}</li>
        <li>{consequences[verb]}</li>
      </ul>
    ),
    send: async (reason) => {
      for (const { collectorId, collectorName } of chosen) {
        if (done.has(collectorId)) continue;
        try {
          await callDaemon(operation, { body: { subject: String(collectorId), reason } });
        } catch (error) {
          const count = `${done.size} of ${chosen.length} are done`;
          throw new Error(`${collectorName}: ${problemText(error)}. ${count}. Send again to continue.`);
        }
        done.add(collectorId);
      }
      then();
    },
  });
}

function askRetryOf(rollout: Rollout, chosen: readonly Collector[], then: () => void): void {
  const collectorIds = chosen.map(({ collectorId }) => collectorId);
  const failed = failedOf(rollout.counts);
  const label = `retry ${numberText(chosen.length)} failed`;
  openQuestion({
    title: `Retry ${countText(chosen.length, 'failed collector')}: ${rollout.id}`,
    label,
    content: (
      <ul>
        <li>{namesOf(chosen)}</li>
        <li>They are upgraded again, within the limits of the rollout. Other failures stay as they are.</li>
      </ul>
    ),
    send: async (reason) => {
      const body = { reason, failed, collectorIds };
      tookPlace(await callDaemon('retryRollout', { params: { id: rollout.id }, body }));
      then();
    },
  });
}

function namesOf(chosen: readonly Collector[]): string {
  const names = chosen.slice(0, namesMax).map(({ collectorName }) => collectorName);
  const more = chosen.length - names.length;
  return `${names.join(', ')}${more > 0 ? `, and ${numberText(more)} more` : ''}`;
}
