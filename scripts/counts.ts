/**
 * Prints counts that show how often the code repeats itself: lines and files of `src`, requests of the dashboard to the API in the same
 * process, types that repeat the API's schemas, and the number of files that name a field.
 *
 *     node scripts/counts.ts [FIELD …]
 */
import { globSync, readFileSync } from 'node:fs';

const DEFAULT_FIELDS = ['ignores_caps', 'address_line2', 'is_display'];

const fields = process.argv.length > 2 ? process.argv.slice(2) : DEFAULT_FIELDS;
const sources = globSync('src/**/*.{ts,tsx}').map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const screens = sources.filter(({ file }) => /(^src\/ui|\/screens)\//.test(file));
const routes = sources.filter(({ file }) => /^src\/api\/|\/routes\.ts$/.test(file));

console.log(`lines of src                        ${countOf(sources, /\n/g)}`);
console.log(`files of src                        ${sources.length}`);
console.log(
  `requests within the process         ${countOf(screens, /\bapi\.(get|send|text|file|upload)\b|\)\.(send|get)</g)}`,
);
console.log(`interfaces in screens               ${countOf(screens, /^(export )?interface /gm)}`);
console.log(`types of answers within expressions ${countOf(screens, /\.(get|send)<\{/g)}`);
console.log(
  `routes mapped to operations         ${countOf(routes, /\.(change|read|record|list)\(\s*'(GET|POST|DELETE) /g)}`,
);
console.log(`other routes of the API             ${countOf(routes, /\bapp\.(get|post|delete|route)\b/g)}`);
for (const field of fields) {
  const files = sources.filter(({ text }) => text.includes(field));
  console.log(`files that name ${field.padEnd(19)} ${files.length}`);
}

function countOf(files: typeof sources, pattern: RegExp): number {
  return files.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);
}
