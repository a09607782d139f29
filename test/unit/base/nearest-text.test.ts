import { describe, expect, it } from 'vitest';
import { nearestText } from '../../../src/base/names.ts';

const labels = ['Linux / amd64 / 19.441-2', 'Windows / amd64 / 19.441-2', 'Linux / arm64 / 19.441-2'];

describe('the nearest text', () => {
  it.each([
    ['linux / amd46 / 19.441-2', 'Linux / amd64 / 19.441-2'],
    ['Linux/arm64/19.441-2', 'Linux / arm64 / 19.441-2'],
    ['Window / amd64 / 19.441-2', 'Windows / amd64 / 19.441-2'],
  ])('of %j is %j', (text, label) => {
    expect(nearestText(text, labels)).toBe(label);
  });
});
