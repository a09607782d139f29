import { showCount } from '../../../base/singular-or-plural.ts';
import { gateChart } from '../../../rollout/charts/gate-chart.ts';
import { soakedText } from '../../../rollout/messages/blockers.ts';
import { judgedText, waveStageText } from '../../../rollout/messages/sentences.ts';
import type { Course, Rollout, Wave } from '../parts/call.ts';
import { Chart } from '../parts/chart.tsx';
import { Bar } from '../parts/progress.tsx';
import { linkTo } from '../parts/route.ts';
import { TimeAfter, timeText } from '../parts/time.tsx';
import { Badge } from '../parts/tones.tsx';

/** Each wave with its state, its failures against its budget, and its gates: the value beside the limit. */
export function Waves({ rollout, course }: { rollout: Rollout; course: Course | undefined }) {
  return (
    <ul class="waves">
      {rollout.waves.map((wave) => (
        <WaveRow
          key={wave.name}
          wave={wave}
          rollout={rollout}
          trends={course?.gates.filter((each) => each.wave === wave.name) ?? []}
        />
      ))}
    </ul>
  );
}

interface WaveRowProps {
  readonly wave: Wave;
  readonly rollout: Rollout;
  /** The answers of its gates over time. */
  readonly trends: Course['gates'];
}

function WaveRow({ wave, rollout, trends }: WaveRowProps) {
  const { name, counts, size, failures, failuresAllowed, lost, acknowledged, gates } = wave;
  return (
    <li>
      <h3>
        <a href={linkTo.collectors(rollout.id, { wave: name })}>{name}</a>{' '}
        <Badge name={rollout.endedAt === null ? wave.state : waveStageText(wave.state, rollout.endedAt)} />
      </h3>
      <div>
        <Bar counts={counts} size={size} label={`wave ${name}: `} />
        <p class="figures">
          <b>{size === 0 ? 'no collectors' : `${showCount(counts.succeeded)} / ${showCount(size)}`}</b>
          <span class={failures > failuresAllowed ? 'error' : undefined}>
            failure budget {failures} of {failuresAllowed}
            {lost > 0 ? `, ${lost} lost (each counts ${rollout.lostWeight})` : ''}
            {acknowledged > 0 ? `, ${acknowledged} acknowledged` : ''}
          </span>
          {rollout.strata.total > 1 ? (
            <span class="quiet">
              {wave.strata} of {rollout.strata.total} strata
            </span>
          ) : null}
        </p>
        <WaveNote wave={wave} rollout={rollout} />
        {gates.length === 0 ? null : (
          <ul class="gates" aria-label={`Gates of ${name}`}>
            {gates.map((gate) => (
              <li key={gate.name}>
                <Badge name={gate.verdict} /> <span>{gate.words}</span>
                {gate.dryRun ? <span class="quiet"> dry run: decides nothing</span> : null}
                {trends
                  .filter((trend) => trend.name === gate.name)
                  .map((trend) => (
                    <Chart key={trend.name} chart={gateChart(trend, timeText)} />
                  ))}
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}

function WaveNote({ wave, rollout }: { wave: Wave; rollout: Rollout }) {
  const zone = rollout.window?.timeZone;
  const pace = rollout.blockers.find(({ kind, until }) => kind === 'pace' && until !== null);
  const openWave = rollout.waves.find((each) => each.state === 'open');
  const { state, soakEndsAt, passedAt, waits, setAside, joined } = wave;
  const more = [
    ...(setAside === 0
      ? []
      : [state === 'passed' ? judgedText(wave) : `${showCount(setAside)} set aside in held strata`]),
    ...(joined > 0 ? [`${joined} joined late`] : []),
  ].join(' · ');
  const main =
    pace !== undefined && openWave === wave ? (
      <TimeAfter words="pace: next start " at={pace.until} hasSeconds />
    ) : state === 'soaking' && soakEndsAt !== null ? (
      soakEndsAt <= Date.now() ? (
        soakedText
      ) : (
        <TimeAfter words="soaks until " at={soakEndsAt} zone={zone} />
      )
    ) : passedAt !== null ? (
      <TimeAfter words="passed " at={passedAt} zone={zone} />
    ) : waits === null || rollout.endedAt !== null ? null : (
      <>waits: {waits}</>
    );
  if (main === null && more === '') return null;
  return (
    <p class="quiet small">
      {main}
      {main !== null && more !== '' ? ' · ' : ''}
      {more}
    </p>
  );
}
