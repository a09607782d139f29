import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type ProcessUsage, readUsage } from './process-usage.ts';

/** A process of its own: one question at a time, each answered with plain data. */
export interface Child {
  ask<Answer>(question: unknown): Promise<Answer>;
  usage(): ProcessUsage;
  stop(): Promise<void>;
}

type Reply = { readonly ok: true; readonly answer: unknown } | { readonly ok: false; readonly error: string };

/** Starts a module of this folder in a process of its own, so that its cost can be measured alone. */
export function startChild(module: URL): Child {
  const child = fork(module, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  return {
    ask: <Answer>(question: unknown) =>
      new Promise<Answer>((resolve, reject) => {
        const onExit = (code: number | null) => {
          child.off('message', onReply);
          reject(new Error(`${module.pathname} ended with ${code} before it answered`));
        };
        const onReply = (message: unknown) => {
          child.off('exit', onExit);
          const reply = message as Reply;
          if (reply.ok) resolve(reply.answer as Answer);
          else reject(new Error(reply.error));
        };
        child.once('exit', onExit);
        child.once('message', onReply);
        child.send({ question });
      }),
    usage: () => readUsage(child.pid ?? 0),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The child's side: answers every question of the parent, and ends with it. */
export function answerParent<Question>(answer: (question: Question) => Promise<unknown>): void {
  // The parent has ended without stopping its children, such as by a crash: a server would go on for ever.
  process.once('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    const { question } = message as { readonly question: Question };
    const send = (reply: Reply) => process.send?.(reply);
    answer(question).then(
      (value) => send({ ok: true, answer: value }),
      (error: unknown) =>
        send({ ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
}

/** Milliseconds since the epoch, finer than `Date.now`, and alike in all processes of a machine. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
