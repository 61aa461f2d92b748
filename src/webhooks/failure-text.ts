/** Says what went wrong with a connection that a request was to go over. */
import { SENTENCES } from '../sentences.ts';

/** What went wrong with the connection, as a sentence. */
export function failureText(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EPRIVATE') return SENTENCES.webhook_private;
  if (/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ETIMEOUT|ENONAME|EREFUSED)/.test(code)) return SENTENCES.webhook_no_host;
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return SENTENCES.webhook_silent;
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/.test(code)) return SENTENCES.webhook_unreachable;
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return SENTENCES.webhook_tls;
  return SENTENCES.webhook_closed;
}
