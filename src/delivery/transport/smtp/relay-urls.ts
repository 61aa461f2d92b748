/** Parses the SMTP relays in SMTP_URL. */
import { isIP } from 'node:net';

export type Relay = {
  host: string;
  port: number;
  /**
   * How TLS is used. `implicit`: TLS from the first byte. `required`: STARTTLS or no mail. `offered`: STARTTLS if the relay announces it,
   * otherwise plain text. `off`: plain text.
   */
  tls: 'implicit' | 'required' | 'offered' | 'off';
  /** True if the certificate must be valid for the host. */
  verify: boolean;
  /** True if the connection stays on this machine, so that plain text is safe. */
  local: boolean;
  login: { user: string; password: string } | null;
  /** The id in the table `relays`, if the relay is stored in the database. */
  id?: number;
  /** The maximum number of mails per second; 0 or absent if the relay has no limit of its own. */
  rate?: number;
  /** The maximum number of connections; if absent, the maximum of the pool applies. */
  connections?: number;
};

/**
 * Parses a comma-separated list of `smtp://user:password@host:port` and `smtps://…`, in order of preference. Special characters of user and
 * password are percent-encoded. Ports default to 587 and 465 (RFC 8314 3.3).
 *
 * A remote host must offer STARTTLS with a valid certificate. `?tls=off` sends in plain text, and is rejected together with a password. On
 * this machine (localhost, 127.0.0.0/8, ::1) STARTTLS is used if offered, with any certificate, because nothing crosses the network;
 * `?tls=required` treats the host as remote, `?tls=off` saves the cost of TLS.
 *
 * Throws an Error that names SMTP_URL and the number of the entry. The message repeats no part of the entry, because it may contain a
 * password.
 */
export function parseRelays(text: string): Relay[] {
  return text.split(',').map((entry, index) => {
    const invalid = (expected: string) => new Error(`SMTP_URL is invalid: entry ${index + 1}: ${expected}`);
    const form = 'expected smtp://user:password@host:port or smtps://…, special characters percent-encoded';

    const url = URL.canParse(entry.trim()) ? new URL(entry.trim()) : null;
    if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') throw invalid(form);
    if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '' || url.port === '0') throw invalid(form);
    const isImplicit = url.protocol === 'smtps:';
    const host = parseHost(url);
    const login = parseLogin(url);
    if (host === null || login === undefined) throw invalid(form);

    const isTlsOff = url.search === '?tls=off';
    const isRequired = url.search === '?tls=required';
    if (url.search !== '' && !isTlsOff && !isRequired) throw invalid('the only options are ?tls=off and ?tls=required');
    if (isImplicit && isTlsOff) throw invalid('smtps:// and tls=off contradict each other');
    const local = isLocal(host);
    if (login !== null && isTlsOff && !local) {
      throw invalid('a user and password would cross the network in plain text with tls=off');
    }
    return {
      host,
      port: Number(url.port) || (isImplicit ? 465 : 587),
      tls: isImplicit ? 'implicit' : isTlsOff ? 'off' : local && !isRequired ? 'offered' : 'required',
      verify: !local || isRequired,
      local,
      login,
    };
  });
}

/** Returns `host:port`, for display and logs. */
export function relayName(relay: Relay): string {
  return isIP(relay.host) === 6 ? `[${relay.host}]:${relay.port}` : `${relay.host}:${relay.port}`;
}

/**
 * Returns the host in lower case and ASCII form, because the URL class converts it only for http; null if it is not a host name or address.
 */
function parseHost(url: URL): string | null {
  if (url.hostname.startsWith('[')) return url.hostname.slice(1, -1);
  return parseHostName(decodeSafely(url.hostname) ?? '');
}

/** Returns a host name or an IPv4 address in lower case and ASCII form; null if the text is neither. */
function parseHostName(name: string): string | null {
  const web = `http://${name}`;
  const host = /[\s/\\@?#:]/.test(name) || !URL.canParse(web) ? '' : new URL(web).hostname;
  return /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(host) ? host : null;
}

/** Returns a host as a person types it, in lower case and ASCII form; null if it is not a host. IPv6 addresses may have brackets. */
export function parseRelayHost(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 6 ? bare.toLowerCase() : parseHostName(text);
}

/** Returns the user and password; null if the URL has none, undefined if they cannot be parsed. */
function parseLogin(url: URL): Relay['login'] | undefined {
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

/** Returns true if a connection to this host stays on this machine. */
export function isLocal(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
}
