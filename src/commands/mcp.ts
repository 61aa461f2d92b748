/** `sendlark mcp`: lets a language model read an account over the Model Context Protocol, and draft mails with --drafts. */
import { type Command, requireWords, UsageError } from './command.ts';

export const mcp: Command = {
  forms: ['mcp [--drafts]'],
  about: 'Let a language model read an account, by the Model Context Protocol.',
  help: `Programs such as editors and assistants start this command and talk to it over standard input and output. It is a client of a running service:
SENDLARK_URL is the address of the service, SENDLARK_PUBLIC_KEY and SENDLARK_SECRET_KEY a pair of keys with the scope read. Without --drafts it only reads.
With --drafts, and the scope campaigns too, it can draft and change mails; only a person in the dashboard can send them. It lists only tools that the
pair's scopes allow.`,
  options: { drafts: { type: 'boolean' } },
  async run(call) {
    requireWords(call);
    const url = requireSetting('SENDLARK_URL');
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError('SENDLARK_URL must be an address such as https://mail.example.com');
    const service = {
      url: new URL(url).origin,
      publicKey: requireSetting('SENDLARK_PUBLIC_KEY'),
      secretKey: requireSetting('SENDLARK_SECRET_KEY'),
    };
    const { serveTools } = await import('../mcp/server.ts');
    await serveTools(service, call.flag('drafts'));
  },
};

function requireSetting(name: string): string {
  const value = process.env[name]?.trim();
  if (!value) throw new UsageError(`${name} is missing in the environment`);
  // The value is sent in a header.
  if (!/^[\x21-\x7e]+$/.test(value)) throw new UsageError(`${name} has characters that it must not have`);
  return value;
}
