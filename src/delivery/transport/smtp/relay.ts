/** Where mail is handed over: the relays named by SMTP_URL. */
import { isIP } from 'node:net';

export type Relay = {
  host: string;
  port: number;
  /**
   * implicit: TLS from the first byte. required: STARTTLS or nothing. offered: STARTTLS where the relay has it, else
   * plain text. off: plain text.
   */
  tls: 'implicit' | 'required' | 'offered' | 'off';
  /** Whether the certificate must be valid for the host. */
  verify: boolean;
  /** Whether the connection stays on this machine, so that plain text harms nobody. */
  local: boolean;
  login: { user: string; password: string } | null;
};

/**
 * The relays of a comma-separated list of `smtp://user:password@host:port` and `smtps://…`, in order of preference;
 * special characters of user and password are percent-encoded. Ports default to 587 and 465 (RFC 8314 3.3).
 *
 * STARTTLS with a valid certificate is required of remote hosts; `?tls=off` sends in plain text, without credentials
 * only. On this machine (localhost, 127.0.0.0/8, ::1) it is taken where offered and the certificate is not looked at,
 * since nothing leaves; `?tls=required` treats it like a remote host, `?tls=off` spares the work.
 *
 * Throws an Error naming SMTP_URL and the entry, never repeating any part of it.
 */
export function parseRelays(text: string): Relay[] {
  return text.split(',').map((entry, index) => {
    const fault = (expected: string) => new Error(`SMTP_URL is invalid: entry ${index + 1}: ${expected}`);
    const form = 'expected smtp://user:password@host:port or smtps://…, special characters percent-encoded';

    const url = URL.canParse(entry.trim()) ? new URL(entry.trim()) : null;
    if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') throw fault(form);
    if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '' || url.port === '0') throw fault(form);
    const implicit = url.protocol === 'smtps:';
    const host = hostOf(url);
    const login = loginOf(url);
    if (host === null || login === undefined) throw fault(form);

    const off = url.search === '?tls=off';
    const required = url.search === '?tls=required';
    if (url.search !== '' && !off && !required) throw fault('the only options are ?tls=off and ?tls=required');
    if (implicit && off) throw fault('smtps:// and tls=off contradict each other');
    const local = isLocal(host);
    if (login !== null && off && !local) {
      throw fault('a user and password would cross the network in plain text with tls=off');
    }
    return {
      host,
      port: Number(url.port) || (implicit ? 465 : 587),
      tls: implicit ? 'implicit' : off ? 'off' : local && !required ? 'offered' : 'required',
      verify: !local || required,
      local,
      login,
    };
  });
}

/** `host:port`, for people and logs. */
export function relayName(relay: Relay): string {
  return isIP(relay.host) === 6 ? `[${relay.host}]:${relay.port}` : `${relay.host}:${relay.port}`;
}

/** Lower-cased and in ASCII form: the URL class does so for http only. Null where it is no host name or address. */
function hostOf(url: URL): string | null {
  if (url.hostname.startsWith('[')) return url.hostname.slice(1, -1);
  const name = decodeSafely(url.hostname) ?? '';
  const web = `http://${name}`;
  const host = /[\s/\\@?#:]/.test(name) || !URL.canParse(web) ? '' : new URL(web).hostname;
  return /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(host) ? host : null;
}

/** Null: none given. Undefined: not readable. */
function loginOf(url: URL): Relay['login'] | undefined {
  if (url.username === '' && url.password === '') return null;
  const user = decodeSafely(url.username);
  const password = decodeSafely(url.password);
  if (!user || !password || /[\r\n\0]/.test(user + password)) return undefined;
  return { user, password };
}

function decodeSafely(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function isLocal(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
}
