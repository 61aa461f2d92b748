/** What `sendlark --help` and `sendlark help COMMAND` say. */
import type { Command } from './command.ts';

/** The list of commands, each with its purpose. */
export function overview(commands: readonly Command[]): string {
  const forms = commands.map(({ forms, about }) => ({ form: forms[0]?.split(' ')[0] ?? '', about }));
  const width = Math.max(...forms.map(({ form }) => form.length));
  return [
    'Sendlark: self-hosted e-mail campaigns in one process and one file.',
    '',
    'Usage: sendlark [COMMAND]',
    '',
    ...forms.map(({ form, about }) => `  ${form.padEnd(width)}  ${about}`),
    '',
    'sendlark help COMMAND tells more; sendlark --version says which release this is. --json gives a result as JSON on standard output.',
    'Exit codes: 0 done, 1 failed (one line on standard error says why), 2 wrong usage.',
    'Settings come from the environment and from .env, DATABASE_PATH first of all.',
  ].join('\n');
}

/** The help of one command: how to call it, what it does, what to know. */
export function manual({ forms, about, help }: Command): string {
  return [...forms.map((form) => `sendlark ${form}`), '', about, '', help].join('\n');
}
