import { headlineWords } from '../../../rollout/messages/need-texts.ts';
import { stateText } from '../../../rollout/messages/sentences.ts';
import { type AuditEntry, callDaemon, type Rollout } from './call.ts';
import { rollouts } from './live.ts';
import { useReading } from './reading.ts';
import { linkTo } from './route.ts';
import { Time } from './time.tsx';

const readAgainMs = 30_000;
const entriesMax = 500;

/** What a person, or the daemon, did to a rollout. */
export type Deed = Pick<AuditEntry, 'at' | 'by' | 'reason'> & {
  readonly event: string;
  readonly wave?: string;
};

/** The last deed of a person for each rollout. Read again when a rollout changes its state. */
export function useDeeds(): ReadonlyMap<string, Deed> {
  const states = rollouts.value.map(({ id, state, reason }) => `${id} ${state} ${reason}`).join('\n');
  const { value } = useReading(
    async () => (await callDaemon('readAudit', { query: { limit: entriesMax } })).entries,
    readAgainMs,
    [states],
  );
  const deeds = new Map<string, Deed>();
  // The newest come first.
  for (const entry of value ?? []) {
    if (!entry.event.startsWith('rollout.')) continue;
    const [id = '', ...wave] = entry.subject.split(' ');
    if (!deeds.has(id)) deeds.set(id, { ...entry, wave: wave.join(' ') });
  }
  return deeds;
}

// The daemon carries these out, and a person may have ordered them.
const carriedOut: ReadonlySet<string> = new Set(['rollout.planned', 'rollout.rolledBack']);

/** `approved wave early by alice, CHG-1042, 21:15 UTC`. The headline has the daemon's own reason already. */
export function DeedNote({ deed, rollout }: { readonly deed: Deed | undefined; readonly rollout: Rollout }) {
  if (deed === undefined) return null;
  const { at, by, event, reason, wave = '' } = deed;
  const isPerson = by !== 'daemon';
  const isNamed = isPerson || !carriedOut.has(event);
  const name = event.split('.').at(-1) ?? '';
  const isEnd = rollout.endedAt !== null && name === rollout.state;
  return (
    <span class="quiet small deed">
      {[isEnd ? headlineWords(rollout) : stateText(name), wave].filter((words) => words !== '').join(' ')}
      {isNamed ? (
        <>
          {' '}
          by <bdi>{by}</bdi>
        </>
      ) : null}
      ,{' '}
      {reason === '' || !isPerson ? null : (
        <>
          <bdi>{reason}</bdi>,{' '}
        </>
      )}
      <Time at={at} />
    </span>
  );
}

interface Related {
  readonly rollbackOf: string | null;
  readonly rollbackId: string | null;
}

/** A rollback and its rollout link each other. */
export function RollbackLinks({ rollbackOf, rollbackId }: Related) {
  return (
    <>
      {rollbackOf === null ? null : (
        <span class="small related">
          rollback of <a href={linkTo.rollout(rollbackOf)}>{rollbackOf}</a>
        </span>
      )}
      {rollbackId === null ? null : (
        <span class="small related">
          rolled back by <a href={linkTo.rollout(rollbackId)}>{rollbackId}</a>
        </span>
      )}
    </>
  );
}
