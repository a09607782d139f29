import type { Course, Rollout, Wave } from '../parts/call.ts';
import { timeWords } from '../parts/time.tsx';

interface Axis {
  readonly from: number;
  readonly to: number;
}

const ticks = [0, 0.25, 0.5, 0.75, 1];
const minuteMs = 60_000;

/**
 * The waves on one time axis: when each was open and when it soaked, with closed windows and freezes behind them, the
 * present, and the expected end. The list below has the same in words.
 */
export function Timeline({ rollout, course }: { rollout: Rollout; course: Course | undefined }) {
  const now = Date.now();
  const axis = axisOf(rollout, now);
  if (rollout.waves.every(({ openedAt }) => openedAt === null)) return null;
  const eta = rollout.eta?.kind === 'at' ? rollout.eta : undefined;
  const closed = (course?.closed ?? []).filter(({ from, to }) => to > axis.from && from < axis.to);
  return (
    <div
      class="timeline"
      role="img"
      aria-label={`Waves from ${timeWords(axis.from)} to ${timeWords(axis.to)}`}
    >
      <div class="plot">
        {closed.map(({ from, to, kind, reason }) => (
          <i
            key={from}
            class={`closed ${kind}`}
            title={`${kind} closed: ${reason}`}
            style={place(axis, from, to)}
          />
        ))}
        {rollout.waves.map((wave) => (
          <WaveBar key={wave.name} wave={wave} axis={axis} now={Math.min(now, rollout.endedAt ?? now)} />
        ))}
        {rollout.endedAt === null ? <i class="mark now" style={place(axis, now, now)} title="now" /> : null}
        {eta === undefined ? null : (
          <i
            class="mark eta"
            title={`expected end ${timeWords(eta.at)}`}
            style={place(axis, eta.at - eta.plusMinusMs, eta.at + eta.plusMinusMs)}
          />
        )}
      </div>
      <div class="ticks" aria-hidden="true">
        {ticks.map((share) => (
          <span key={share}>{timeWords(axis.from + share * (axis.to - axis.from))}</span>
        ))}
      </div>
      {closed.length === 0 && eta === undefined ? null : (
        <p class="legend quiet small" aria-hidden="true">
          <i class="swatch busy" /> open <i class="swatch soak" /> soak
          {closed.length === 0 ? null : (
            <>
              {' '}
              <i class="swatch closed" /> closed window or freeze
            </>
          )}
          {eta === undefined ? null : (
            <>
              {' '}
              <i class="swatch eta" /> expected end
            </>
          )}
        </p>
      )}
    </div>
  );
}

function axisOf({ createdAt, endedAt, eta, waves }: Rollout, now: number): Axis {
  if (endedAt !== null) return { from: createdAt, to: Math.max(endedAt, createdAt + minuteMs) };
  const soaks = waves.map(({ soakEndsAt }) => soakEndsAt ?? 0);
  const end = eta !== null && 'at' in eta ? eta.at + ('plusMinusMs' in eta ? eta.plusMinusMs : 0) : 0;
  const last = Math.max(now, end, ...soaks);
  return { from: createdAt, to: last + Math.max(minuteMs, (last - createdAt) * 0.04) };
}

function WaveBar({ wave, axis, now }: { wave: Wave; axis: Axis; now: number }) {
  const { name, openedAt, soakEndsAt, passedAt, state } = wave;
  const end = passedAt ?? Math.max(now, openedAt ?? now);
  return (
    <div class="lane">
      <span>{name}</span>
      {openedAt === null ? null : (
        <i
          class={passedAt !== null ? 'span good' : state === 'soaking' ? 'span soak' : 'span busy'}
          title={`${name}: ${timeWords(openedAt)} – ${timeWords(end)}`}
          style={place(axis, openedAt, end)}
        />
      )}
      {state === 'soaking' && soakEndsAt !== null && soakEndsAt > now ? (
        <i
          class="span ahead"
          title={`${name} soaks until ${timeWords(soakEndsAt)}`}
          style={place(axis, now, soakEndsAt)}
        />
      ) : null}
    </div>
  );
}

function place({ from, to }: Axis, start: number, end: number): { left: string; width: string } {
  const share = (at: number) => (100 * (Math.min(Math.max(at, from), to) - from)) / (to - from);
  return { left: `${share(start)}%`, width: `${Math.max(0, share(end) - share(start))}%` };
}
