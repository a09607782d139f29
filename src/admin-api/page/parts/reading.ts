import { useEffect, useState } from 'preact/hooks';
import { isStale } from './live.ts';

/** An error as words for a person. */
export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Data that the stream does not carry: read when a view opens or an input changes, and again some time after each answer.
 * The last answer stays while a read fails. A page that is live again reads immediately.
 */
export function useReading<Value>(
  read: () => Promise<Value>,
  readAgainMs: number,
  inputs: readonly unknown[],
): { readonly value: Value | undefined; readonly problem: string } {
  const [value, setValue] = useState<Value | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let isOpen = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setProblem('');
    const readOnce = async () => {
      try {
        const answer = await read();
        if (!isOpen) return;
        setValue(answer);
        setProblem('');
      } catch (error) {
        if (isOpen) setProblem(problemText(error));
      }
      if (isOpen) readLater();
    };
    // A hidden tab needs no new answer.
    const readLater = () => {
      timer = setTimeout(() => (document.hidden ? readLater() : void readOnce()), readAgainMs);
    };
    void readOnce();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [...inputs, isStale.value]);
  return { value, problem: shownProblem(problem, value !== undefined) };
}

/** A problem as a view shows it. During an outage the banner of the page has the reason, and answers stay as they are. */
export function shownProblem(problem: string, hasAnswer: boolean): string {
  if (problem === '' || !isStale.value) return problem;
  return hasAnswer ? '' : 'This is shown once the page is live again.';
}
