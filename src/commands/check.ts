/** `sendlark check`: checks a mail or a template in a file for what keeps it from being read. */
import { open } from 'node:fs/promises';
import { findingText } from '../campaigns/screens/finding-text.ts';
import { compileThread } from '../delivery/compiling/compile.ts';
import { Language } from '../ui/words/index.ts';
import { MEBIBYTE } from '../units.ts';
import { type Command, requireWords } from './command.ts';
import { STANDARD } from './standard-streams.ts';

/** The maximum size of a file: enough for a mail with attachments, and more than a template may have. */
const MAX_BYTES = 16 * MEBIBYTE;
/** The account id for the compile thread, which serves accounts in turn. No account has this id. */
const NO_ACCOUNT = 0;

export const check: Command = {
  forms: ['check FILE'],
  about: 'Check a mail or a template for what keeps it from being read.',
  help: `FILE is a template in HTML or MJML (its markup or its JSON form), or a mail with its header (.eml); - is standard input. Each finding has a
code and a severity: an error is wrong in every mail, a warning may keep recipients from reading it, a note is worth a look. What only an
account knows, such as its merge tags, is checked in the dashboard and by POST /check.
Exit code 1 if an error is found. Needs no database.`,
  options: {},
  async run(call) {
    const [file = ''] = requireWords(call, 'FILE');
    const checked = await compileThread.ask(NO_ACCOUNT, 'file', await readFile(file));
    const language = new Language('en');
    call.answer(
      checked,
      checked.findings.map(
        ({ code, severity, ...finding }) =>
          `${severity.padEnd(7)}  ${code}: ${findingText({ check: code, is_good: 0, ...finding }, language)}`,
      ),
      'Nothing was found.',
    );
    if (checked.findings.some(({ severity }) => severity === 'error')) process.exitCode = 1;
  },
};

/** Returns the text of a file, or of standard input. Throws if the text is longer than `MAX_BYTES`. */
async function readFile(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const handle = file === STANDARD ? null : await open(file);
  for await (const chunk of handle === null ? process.stdin : handle.createReadStream()) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_BYTES)
      throw new Error(`${file === STANDARD ? 'Standard input' : file} is longer than ${MAX_BYTES / MEBIBYTE} MiB`);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
