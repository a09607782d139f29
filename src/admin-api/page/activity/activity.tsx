import { counted } from '../../../rollout/messages/sentences.ts';
import { policyOfAudit } from '../../../rollout/model/rollout-id.ts';
import { auditActs } from '../../../rollout/status/audit-acts.ts';
import { chosenAccount, isOfChosenAccount } from '../parts/account.tsx';
import { type AuditEntry, callDaemon } from '../parts/call.ts';
import { Choice } from '../parts/choice.tsx';
import { policies } from '../parts/live.ts';
import { useReading } from '../parts/reading.ts';
import { type ActivityFilter, linkTo, replaceRoute } from '../parts/route.ts';
import { Time } from '../parts/time.tsx';
import { toneOf } from '../parts/tones.tsx';

const readAgainMs = 10_000;
/** The maximum of one answer. */
const entriesMax = 1_000;

/** Who did what, when and why, over all rollouts, newest first. */
export function Activity({ filter }: { readonly filter: ActivityFilter }) {
  const { who: by, what: type, policy, match } = filter;
  const all = useReading(() => readAudit({}), readAgainMs, []);
  const isFiltered = Object.keys(filter).length > 0;
  const found = useReading(
    () => (isFiltered ? readAudit({ by, type, policy, match }) : Promise.resolve(undefined)),
    readAgainMs,
    [by, type, policy, match],
  );
  const problem = all.problem === '' ? found.problem : all.problem;
  const value = isFiltered ? found.value : all.value;
  const shown = auditActs((value ?? []).filter(isOfAccount));
  return (
    <section aria-labelledby="activity">
      <h2 id="activity" class="lead">
        Activity
      </h2>
      <Filters entries={all.value ?? []} filter={filter} />
      <p role="status" class="found">
        {problem !== '' ? (
          <span class="error">{problem}</span>
        ) : value === undefined ? (
          'loading …'
        ) : (
          foundIn(shown, { read: value, isFiltered: isFiltered || chosenAccount.value !== '' })
        )}
      </p>
      <table class="activity">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Where</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((entry, index) => (
            <Row key={`${entry.at} ${entry.event} ${entry.subject} ${index}`} {...entry} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

type AuditQuery = Readonly<Record<string, string | undefined>>;

async function readAudit(query: AuditQuery): Promise<readonly AuditEntry[]> {
  return (await callDaemon('readAudit', { query: { ...query, limit: entriesMax } })).entries;
}

/** Whether it is of the chosen account. Holds of builds and collectors, and reloads, are of all accounts. */
function isOfAccount(entry: AuditEntry): boolean {
  const policy = policyOfAudit(entry);
  const known = policies.value?.policies.find((each) => each.policy === policy);
  return known === undefined || isOfChosenAccount(known);
}

function foundIn(
  shown: readonly AuditEntry[],
  { read, isFiltered }: { readonly read: readonly AuditEntry[]; readonly isFiltered: boolean },
): string {
  if (shown.length === 0) return isFiltered ? 'No action matches.' : 'Nobody has done anything yet.';
  const found = counted(shown.length, 'action');
  return read.length < entriesMax ? found : `${found}, the newest`;
}

function Filters({
  entries,
  filter,
}: {
  readonly entries: readonly AuditEntry[];
  readonly filter: ActivityFilter;
}) {
  const set = (name: keyof ActivityFilter, value: string) => {
    const { [name]: _before, ...others } = filter;
    replaceRoute(linkTo.activity(value === '' ? others : { ...others, [name]: value }));
  };
  const choice = (name: 'who' | 'what' | 'policy', label: string, values: readonly string[]) => {
    const chosen = filter[name] ?? '';
    // Also a value of a link that no entry has.
    const names = [...new Set(chosen === '' ? values : [...values, chosen])].toSorted();
    const options = names.map((each) => ({ name: each }));
    return <Choice label={label} value={chosen} options={options} choose={(value) => set(name, value)} />;
  };
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label class="wide">
        Search
        <input
          type="search"
          defaultValue={filter.match ?? ''}
          placeholder="rollout, build, collector, reason"
          autocomplete="off"
          onInput={({ currentTarget }) => set('match', currentTarget.value.trim())}
        />
      </label>
      {choice(
        'who',
        'Who',
        entries.map(({ by }) => by),
      )}
      {choice(
        'what',
        'What',
        entries.map(({ event }) => event),
      )}
      {choice(
        'policy',
        'Policy',
        entries.flatMap((entry) => policyOfAudit(entry) ?? []),
      )}
    </form>
  );
}

function Row({ at, by, event, subject, reason }: AuditEntry) {
  return (
    <tr>
      <td>
        <Time at={at} hasSeconds />
      </td>
      <td>
        <bdi>{by}</bdi>
      </td>
      <td class={`name ${toneOf(event.split('.').at(-1) ?? '')}`}>{event}</td>
      <td>
        <Subject event={event} subject={subject} />
      </td>
      <td>
        <bdi>{reason}</bdi>
      </td>
    </tr>
  );
}

/** A collector and a rollout are links. */
function Subject({ event, subject }: Pick<AuditEntry, 'event' | 'subject'>) {
  // The id comes first: of a collector its name follows, of a rollout its wave.
  const [id = '', ...others] = subject.split(' ');
  if (event.startsWith('collector.')) return <a href={linkTo.collector(id)}>collector {subject}</a>;
  if (!event.startsWith('rollout.') && !event.startsWith('wave.')) return <bdi>{subject}</bdi>;
  return (
    <>
      <a href={linkTo.rollout(id)}>{id}</a> {others.join(' ')}
    </>
  );
}
