import { parseSync } from '@swc/core';
import { z } from 'zod';
import { configJsonSchema } from '../../../src/config/schema/json-schema.ts';
import { filesBelow, proseOf, textOf } from './documents.ts';

/** A text that people read, and the file it is from. */
interface Text {
  readonly where: string;
  readonly text: string;
}

const inCode = z.object({ type: z.enum(['StringLiteral', 'TemplateElement', 'JSXText']) });
const literal = z.union([z.object({ value: z.string() }), z.object({ cooked: z.string() })]);

/** Sentences and phrases in the code of a folder: literals of more than one word. */
export function textsOfCode(folder: string): Text[] {
  return filesBelow(folder, /\.tsx?$/).flatMap((where) => {
    const texts: string[] = [];
    const tsx = where.endsWith('.tsx');
    collect(parseSync(textOf(where), { syntax: 'typescript', target: 'es2022', tsx }), texts);
    return texts.filter((text) => /\w \w/.test(text)).map((text) => ({ where, text }));
  });
}

function collect(node: unknown, texts: string[]): void {
  if (typeof node !== 'object' || node === null) return;
  if (inCode.safeParse(node).success) {
    const { data } = literal.safeParse(node);
    if (data !== undefined) texts.push('value' in data ? data.value : data.cooked);
    return;
  }
  for (const child of Object.values(node)) collect(child, texts);
}

/** The comments of a folder, line by line. */
export function commentsOfCode(folder: string): Text[] {
  return filesBelow(folder, /\.(?:tsx?|lua)$/).flatMap((where) =>
    [...textOf(where).matchAll(/^\s*(?:\/\/|\*|\/\*\*|--)\s?(.*)$/gm)].map(([, text = '']) => ({
      where,
      text,
    })),
  );
}

/** The identifiers of a folder, each once a file, as words: `lookEveryMs` is `look every ms`. */
export function identifiersOfCode(folder: string): Text[] {
  return filesBelow(folder, /\.tsx?$/).flatMap((where) => {
    const names = new Set<string>();
    const tsx = where.endsWith('.tsx');
    collectNames(parseSync(textOf(where), { syntax: 'typescript', target: 'es2022', tsx }), names);
    return [...names].map((name) => ({
      where,
      text: name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase(),
    }));
  });
}

function collectNames(node: unknown, names: Set<string>): void {
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && node.type === 'Identifier' && 'value' in node) names.add(String(node.value));
  for (const child of Object.values(node)) collectNames(child, names);
}

/** What the schema says of each key of the config. */
export function configDescriptions(): string[] {
  const found = JSON.stringify(configJsonSchema()).matchAll(/"description":("(?:[^"\\]|\\.)*")/g);
  return [...new Set([...found].map(([, text = '""']) => z.string().parse(JSON.parse(text))))];
}

/** The guides, line by line, without code. The changelog keeps what was said of each release. */
export function linesOfGuides(): Text[] {
  return filesBelow('', /\.md$/)
    .filter((path) => path !== 'CHANGELOG.md')
    .flatMap((where) =>
      proseOf(where)
        .replaceAll(/`[^`\n]*`/g, '`…`')
        .split(/\n(?=\n|[-|#]|\d+\.)/)
        .map((text) => ({ where, text: text.replaceAll(/\s+/g, ' ').trim() })),
    );
}
