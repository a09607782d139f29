import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** What the figures were measured on: with a load near its cores, they are worth little. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGibibytes: number;
  readonly node: string;
  readonly loadBefore: number;
}

/** What one part of the benchmarks came to. */
export interface PartResult {
  /** Everything that was measured, for programs. */
  readonly data: unknown;
  /** As Markdown. */
  readonly tables: readonly string[];
  readonly plots?: ReadonlyArray<{ readonly name: string; readonly svg: string }>;
  /** Promises that were broken; empty when all were kept. */
  readonly broken: readonly string[];
}

/** A line of a table. */
export interface Row {
  readonly label: string;
  readonly cells: readonly string[];
  /** Beside the figures: the goal, and whether the first cell meets it. */
  readonly goal?: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGibibytes: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** The whole result as Markdown. */
export function renderReport(machine: Machine, parts: readonly PartResult[]): string {
  const { cpu, cores, memoryGibibytes, node, loadBefore } = machine;
  const broken = parts.flatMap((part) => part.broken);
  const blocks = [
    `${cpu}, ${cores} cores, ${memoryGibibytes} GiB, Node ${node}, load ${loadBefore.toFixed(1)} before the run`,
    ...parts.flatMap(({ tables }) => tables),
    ...(broken.length === 0 ? [] : [`BROKEN\n${broken.map((text) => `- ${text}`).join('\n')}`]),
  ];
  return `\n${blocks.join('\n\n')}\n`;
}

/** A Markdown table under its head, with the goals at the right. */
export function table(head: string, titles: readonly string[], rows: readonly Row[]): string {
  const lines = [
    ['', ...titles, 'goal'],
    ...rows.map(({ label, cells, goal }) => [label, ...cells, goal ?? '']),
  ];
  const widths =
    lines[0]?.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const isText = (column: number) => column === 0 || column === widths.length - 1;
  const write = (line: readonly string[]) =>
    `| ${line
      .map((cell, column) =>
        isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join(' | ')} |`;
  const rule = widths.map((width, column) =>
    isText(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  const [titleLine = [], ...rest] = lines;
  return [head, '', write(titleLine), write(rule), ...rest.map(write)].join('\n');
}

/** A row of figures; the goal is judged by the first that there is. */
export function figureRow(
  label: string,
  figures: readonly number[],
  format: (value: number) => string,
  atMost?: number,
): Row {
  const ours = figures.find((figure) => !Number.isNaN(figure)) ?? Number.NaN;
  return {
    label,
    cells: figures.map((figure) => (Number.isNaN(figure) ? '–' : format(figure))),
    ...(atMost === undefined ? {} : { goal: `<= ${format(atMost)} ${verdict(ours <= atMost)}` }),
  };
}

export function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'not met';
}

export function fixed(digits: number): (value: number) => string {
  return (value) => value.toFixed(digits);
}

export function percent(digits: number): (value: number) => string {
  return (value) => `${(value * 100).toFixed(digits)} %`;
}

export function mebibytes(bytes: number): number {
  return bytes / 2 ** 20;
}
