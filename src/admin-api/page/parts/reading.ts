import { useEffect, useState } from 'preact/hooks';

/** An error as words for a person. */
export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Data that the stream does not carry: read when a view opens or an input changes, and again some time after each answer.
 * The last answer stays while a read fails.
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
  }, inputs);
  return { value, problem };
}
