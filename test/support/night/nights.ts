import { useRedis } from '../redis/redis.ts';
import { aDaemonNight, aStartedNight, type NightInput, nightConfig } from './daemon-night.ts';
import { aDesk, type RunningTest } from './upwave-desk.ts';

type OwnNightInput = Partial<NightInput> & { readonly daemons?: number };

/** Nights of a test file, each on keys of its own in the Redis of the run. */
export function useNights() {
  const redis = useRedis();
  const own = (input: OwnNightInput): NightInput => ({ redis: redis.config(), ...input });
  const aNight = (test: RunningTest, input: OwnNightInput = {}) =>
    aDaemonNight(own(input), test.onTestFinished);
  return {
    redis,
    aNight,
    aStartedNight: (test: RunningTest, input: OwnNightInput = {}) =>
      aStartedNight(own(input), test.onTestFinished),
    /** A night, and a config for processes that work in it. @param input with what the processes are given */
    aNightDesk: async (test: RunningTest, input: OwnNightInput & Parameters<typeof aDesk>[2] = {}) => {
      const night = await aNight(test, input);
      const config = { ...nightConfig(night.baseUrl, input), redis: night.redis };
      return { night, desk: aDesk(test, config, input) };
    },
  };
}
