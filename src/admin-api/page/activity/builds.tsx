import { showCount } from '../../../base/singular-or-plural.ts';
import type { BuildOutcome } from '../../../contract/admin/builds.ts';
import { failedShareText, noBuildHistory, worstStratumText } from '../../../rollout/messages/sentences.ts';
import { worstParts } from '../../../rollout/planning/stratum-risk.ts';
import { AccountName, isOfChosenAccount } from '../parts/account.tsx';
import { callDaemon } from '../parts/call.ts';
import { useReading } from '../parts/reading.ts';
import { Time } from '../parts/time.tsx';

// A rollout ends rarely, and is recorded within a minute.
const readAgainMs = 60_000;

/** What each build did in ended rollouts, the newest first. */
export function Builds() {
  const { value, problem } = useReading(
    async () => (await callDaemon('listBuildHistory')).builds,
    readAgainMs,
    [],
  );
  const shown = (value ?? []).filter(isOfChosenAccount);
  const note = value === undefined ? 'loading …' : shown.length === 0 ? noBuildHistory : '';
  return (
    <section aria-labelledby="builds">
      <h2 id="builds" class="lead">
        Builds
      </h2>
      <p class="quiet">Of ended rollouts. A running rollout is added when it ends.</p>
      <p role="status" class="found">
        {problem === '' ? note : <span class="error">{problem}</span>}
      </p>
      {shown.length === 0 ? null : (
        <table class="activity builds">
          <thead>
            <tr>
              <th scope="col">Build</th>
              <th scope="col">Tried</th>
              <th scope="col">Failed</th>
              <th scope="col">Rollouts</th>
              <th scope="col">Last</th>
              <th scope="col">Failed most</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((outcome) => (
              <Row key={`${outcome.build} ${outcome.accountName}`} {...outcome} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row(outcome: BuildOutcome) {
  const { build, tried, failed, rollouts, lastEndedAt } = outcome;
  return (
    <tr>
      <td class="name">
        <bdi>{build}</bdi> <AccountName {...outcome} />
      </td>
      <td data-name="tried">{showCount(tried)}</td>
      <td data-name="failed">
        {showCount(failed)}
        {failed === 0 ? null : ` (${failedShareText(outcome)})`}
      </td>
      <td data-name="rollouts">{showCount(rollouts)}</td>
      <td data-name="last">
        <Time at={lastEndedAt} />
      </td>
      <td>
        {worstParts(outcome).map((stratum) => (
          <div key={stratum.label}>
            <bdi>{worstStratumText(stratum)}</bdi>
          </div>
        ))}
      </td>
    </tr>
  );
}
