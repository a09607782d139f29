import { parseSync } from '@swc/core';
import { z } from 'zod';
import { filesBelow, proseOf, textOf } from './documents.ts';
import { configJsonSchema } from './json-schema.ts';

/** A text that people read, and the file it is from. */
interface Text {
  readonly where: string;
  readonly text: string;
}

const literal = z.union([
  z.object({ type: z.enum(['StringLiteral', 'JSXText']), value: z.string() }),
  z.object({ type: z.literal('TemplateElement'), cooked: z.string() }),
]);

/** Sentences and phrases in the code of a folder: literals of more than one word. */
export function textsOfCode(folder: string): Text[] {
  return codeOf(folder).flatMap(({ where, nodes }) =>
    nodes.flatMap((node) => {
      const { data } = 'type' in node ? literal.safeParse(node) : {};
      const text = data === undefined ? '' : 'value' in data ? data.value : data.cooked;
      return /\w \w/.test(text) ? [{ where, text }] : [];
    }),
  );
}

/** The syntax trees of a folder, each with all its nodes. */
function codeOf(folder: string) {
  return filesBelow(folder, /\.tsx?$/).map((where) => {
    const syntax = { syntax: 'typescript', target: 'es2022', tsx: where.endsWith('.tsx') } as const;
    return { where, nodes: [...nodesIn(parseSync(textOf(where), syntax))] };
  });
}

function* nodesIn(node: unknown): Generator<object> {
  if (typeof node !== 'object' || node === null) return;
  yield node;
  for (const child of Object.values(node)) yield* nodesIn(child);
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
  return codeOf(folder).flatMap(({ where, nodes }) => {
    const names = nodes.flatMap((node) =>
      'type' in node && node.type === 'Identifier' && 'value' in node ? [String(node.value)] : [],
    );
    const words = names.map((name) => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase());
    return [...new Set(words)].map((text) => ({ where, text }));
  });
}

/** What the schema says of each key of the config. */
export function configDescriptions(): string[] {
  const found = JSON.stringify(configJsonSchema()).matchAll(/"description":("(?:[^"\\]|\\.)*")/g);
  return [...new Set([...found].map(([, text = '""']) => z.string().parse(JSON.parse(text))))];
}

const operatorFiles = /(?:\.(?:ya?ml|service|sh)|Dockerfile|Caddyfile)$/;

/** The comments of configs, units, images and scripts, and the texts of alerts: a block of lines is one text. */
export function textsOfOperatorFiles(): Text[] {
  const files = ['config', 'deploy'].flatMap((folder) => filesBelow(folder, operatorFiles));
  return [...files, 'docker-compose.yml'].flatMap((where) =>
    [
      ...textOf(where).matchAll(
        /(?:^[ \t]*#[^\n]*\n)+|[ \t]#[ \t][^\n]*$|\b(?:summary|description): [^\n]*(?:\n(?! *[\w-]+:)[^\n]+)*/gm,
      ),
    ].map(([text]) => ({
      where,
      text: text
        .replaceAll(/^[ \t]*#|>-/gm, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    })),
  );
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
