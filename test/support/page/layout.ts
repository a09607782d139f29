import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';

/**
 * A picture as squares of 16 pixels, each with its mean brightness: where things stand, and how dark they are. Letters,
 * numbers and times may differ from one machine to the next. The places of what is shown may not.
 */
export interface Layout {
  readonly columns: number;
  /** From 0 to 255, row by row. */
  readonly squares: readonly number[];
}

const squarePx = 16;
const kept = new URL('layouts/', import.meta.url);

export async function layoutOf(page: Page): Promise<Layout> {
  return readLayout(await page.screenshot(), squarePx);
}

/** A kept layout is a picture with one pixel for each square. @returns undefined where none is kept yet */
export function keptLayout(name: string): Layout | undefined {
  const file = fileOf(name);
  return existsSync(file) ? readLayout(readFileSync(file), 1) : undefined;
}

export function keepLayout(name: string, { columns, squares }: Layout): void {
  const picture = new PNG({ width: columns, height: squares.length / columns });
  for (const [at, value] of squares.entries()) picture.data.set([value, value, value, 255], at * 4);
  mkdirSync(kept, { recursive: true });
  writeFileSync(fileOf(name), PNG.sync.write(picture, { colorType: 0 }));
}

/** The share of squares that differ, of those that the larger one has. */
export function differenceOf(one: Layout, other: Layout): number {
  if (one.columns !== other.columns) return 1;
  const [longer, shorter] = one.squares.length < other.squares.length ? [other, one] : [one, other];
  const differing = longer.squares.filter((value, at) => {
    const there = shorter.squares[at];
    return there === undefined || Math.abs(value - there) > brightnessApart;
  });
  return differing.length / longer.squares.length;
}

// Other letters in the same place change a square by less.
const brightnessApart = 40;

function readLayout(png: Buffer, squareSize: number): Layout {
  const { width, height, data } = PNG.sync.read(png);
  const [columns, rows] = [Math.floor(width / squareSize), Math.floor(height / squareSize)];
  const squares = Array.from({ length: columns * rows }, (_, at) => {
    const [left, top] = [(at % columns) * squareSize, Math.floor(at / columns) * squareSize];
    let sum = 0;
    for (let y = top; y < top + squareSize; y += 1)
      for (let x = left; x < left + squareSize; x += 1) {
        const pixel = (y * width + x) * 4;
        sum += 0.3 * (data[pixel] ?? 0) + 0.59 * (data[pixel + 1] ?? 0) + 0.11 * (data[pixel + 2] ?? 0);
      }
    return Math.round(sum / squareSize ** 2);
  });
  return { columns, squares };
}

function fileOf(name: string): string {
  return new URL(`${name}.png`, kept).pathname;
}
