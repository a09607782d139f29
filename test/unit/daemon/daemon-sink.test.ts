import { expect, it } from 'vitest';
import { makeDaemonSink } from '../../../src/daemon/daemon-sink.ts';
import type { DaemonNote } from '../../../src/orchestrator/ports/event-sink.ts';
import { quietParts } from '../../support/quiet-parts.ts';

it('a daemon that is late reports it every ten minutes, however often it is late', () => {
  const reported: DaemonNote[] = [];
  let now = 1_000;
  const sink = makeDaemonSink({
    projections: { ...quietParts.sink, note: (note) => reported.push(note) },
    logger: { write: () => undefined },
    clock: { now: () => now },
    learnRefusal: () => false,
    isCut: () => false,
  });
  for (; now < 1_260_000; now += 1_000)
    sink.note({ event: 'daemon.starved', late: { kind: 'places', lateMs: 300 } });
  expect(reported).toHaveLength(3);
});
