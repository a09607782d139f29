import type { DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { ConfigRegister } from '../ports/config-register.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { Configs } from './configs.ts';

// A daemon counts as gone after five missing beats.
const beatEveryMs: DurationMs = 2_000;

/** Reports that this daemon is alive, until the signal is aborted. A beat may wait as long as Redis is unavailable. */
export async function keepBeating(
  configs: Pick<Configs, 'beat'>,
  {
    register,
    sink,
    sleep,
    afterBeat,
  }: {
    readonly register: Pick<ConfigRegister, 'leave'>;
    readonly sink: EventSink;
    readonly sleep: Sleep;
    /** Work that follows from the result of a beat. */
    readonly afterBeat: () => Promise<unknown>;
  },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await configs.beat();
      await afterBeat();
    } catch (error) {
      // Redis is unavailable or refuses: the last result stays, and each scan checks again.
      if (!signal.aborted) sink.note({ event: 'reconcile.failed', rollout: '', error });
    }
    await sleep(beatEveryMs, signal);
  }
  // Otherwise the other daemons would wait some seconds for this one. While Redis is unavailable, they do.
  await register
    .leave()
    .catch((error: unknown) => sink.note({ event: 'reconcile.failed', rollout: '', error }));
}
