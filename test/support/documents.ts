/** The documents' fenced blocks and inline code, and their commands one by one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

export interface Block {
  document: string;
  language: string;
  text: string;
}

/** Every document in `docs` and its folders, with paths from the root. */
export const DOCS: readonly string[] = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
  .sort();

/** The fenced blocks of a document in order; of an indented one, its lines without the indent. */
export function blocksOf(document: string): Block[] {
  return [...textOf(document).matchAll(/^( *)```(.*)\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', text = '']) => ({
      document,
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** The code within the running text of a document. */
export function inlineCodeOf(document: string): string[] {
  const prose = textOf(document).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** The commands of a shell block, those over several lines as one, without comments. */
export function commandsOf(block: string): string[] {
  return block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/ +# .*$/, '').trim())
    .filter((line) => line !== '');
}

function textOf(document: string): string {
  return readFileSync(join(ROOT, document), 'utf8');
}
