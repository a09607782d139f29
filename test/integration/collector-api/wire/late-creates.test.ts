import { connect, createServer } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { sendWithinMs } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { createTask } from '../../../support/create-task.ts';
import { ending } from '../../../support/ending.ts';
import { listenHere } from '../../../support/network/listen-here.ts';
import {
  hasOpenssl,
  makeCertificates,
  type TestCertificates,
} from '../../../support/network/make-certificates.ts';
import { startTlsServer } from '../../../support/network/tls-server.ts';
import { settableClocks } from '../../../support/settable-clocks.ts';
import { aCollectorApi } from '../../../support/setup/collector-api-setup.ts';

/** A way to this port that carries nothing until it is opened: a handshake over TLS takes as long. */
async function startSlowWay(targetPort: number) {
  let open: () => void = () => undefined;
  let arrive: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const server = createServer((inner) => {
    arrive();
    const outer = connect({ host: '127.0.0.1', port: targetPort });
    for (const socket of [inner, outer]) socket.on('error', () => inner.destroy());
    inner.on('close', () => outer.destroy());
    outer.pipe(inner);
    void opened.then(() => inner.pipe(outer));
  });
  return { ...(await listenHere(server)), open, arrived };
}

describe.skipIf(!hasOpenssl)('a create whose connection takes long (skipped without openssl)', () => {
  let certificates: TestCertificates;
  beforeAll(() => {
    certificates = makeCertificates();
  });

  /** Sends a create, and moves its clocks during the handshake. */
  async function createWhile(move: (clocks: ReturnType<typeof settableClocks>) => void) {
    const json = JSON.stringify({ id: '1', link: { rel: 'self', href: '/x' } });
    const service = ending(await startTlsServer(certificates, { status: 202, json }));
    const way = ending(await startSlowWay(Number(new URL(service.url).port)));
    const clocks = settableClocks();
    const baseUrl = `https://127.0.0.1:${way.port}/api`;
    const { fleet } = await aCollectorApi(() => undefined, {
      baseUrl,
      ca: certificates.ca,
      clocks: clocks.clocks,
    });
    const creating = createTask(fleet, { collectorId: 1, toBuild: '39.500-1' });
    await way.arrived;
    move(clocks);
    way.open();
    return { answer: await creating, sent: service.asked() };
  }

  it.each<[string, (clocks: ReturnType<typeof settableClocks>) => void]>([
    ['more than a second passed', ({ pass }) => pass(sendWithinMs + 1)],
    ['the machine was suspended', ({ suspend }) => suspend(6_000)],
    ['the clock was set forward', ({ setWall }) => setWall(3_600_000)],
    ['the clock was set back after a suspension', ({ setWall }) => setWall(6_000 - 3_600_000)],
  ])('does not leave when %s meanwhile (P4)', async (_what, move) => {
    expect(await createWhile(move)).toEqual({
      answer: { ok: false, failure: { kind: 'cancelled', sent: false } },
      sent: 0,
    });
  });

  it('leaves in time', async () => {
    expect(await createWhile(({ pass }) => pass(sendWithinMs))).toMatchObject({
      answer: { ok: true, value: { taskId: '1' } },
      sent: 1,
    });
  });
});
