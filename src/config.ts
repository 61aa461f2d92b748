/** The settings: read once from the environment and a `.env` file (env-file.ts), checked, frozen. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { isTimeZone } from './time/zones.ts';

interface Setting<T> {
  about: string;
  /** The text used if the setting is absent or empty. */
  fallback: string;
  /** Converts the text to the value. Throws an Error that describes the expected format. */
  parse(text: string): T;
}

function setting<T>(fallback: string, about: string, parse: (text: string) => T): Setting<T> {
  return { about, fallback, parse };
}

function asText(text: string): string {
  return text;
}

function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new Error(`a whole number from ${least} to ${most}`);
    return value;
  };
}

function oneOf<const T extends string>(...choices: T[]): (text: string) => T {
  return (text) => {
    const value = choices.find((choice) => choice === text);
    if (value === undefined) throw new Error(`one of ${choices.filter((choice) => choice !== '').join(', ')}`);
    return value;
  };
}

/**
 * A host name in ASCII form or an IP address. URLs allow quotes and other characters in host names, which must not get into the HTML of a
 * mail.
 */
const HOST_NAME = /^([a-z\d._-]+|\[[a-f\d:]+\])$/;

/**
 * The origin of an http or https URL without a path, with a host name or an IP address; empty for an empty text. Throws an Error that
 * describes the expected format.
 */
export function parseOrigin(text: string): string {
  if (text === '') return '';
  const url = URL.canParse(text) ? new URL(text) : null;
  const isBare = url !== null && url.origin.length + url.pathname.length === url.href.length && url.pathname === '/';
  if (!isBare || !/^https?:$/.test(url.protocol) || !HOST_NAME.test(url.hostname)) {
    // Pages and forms lead to paths directly below the host, so a path here would break them.
    throw new Error('an http or https address without a path, such as https://mail.example.com');
  }
  return url.origin;
}

function asKey(text: string): string {
  if (text !== '' && !/^[!-~]{16,255}$/.test(text)) {
    throw new Error('at least 16 characters, letters, digits or signs without spaces');
  }
  return text;
}

function asHostAndPort(text: string): { host: string; port: number } | null {
  if (text === '') return null;
  const url = URL.canParse(`tcp://${text}`) ? new URL(`tcp://${text}`) : null;
  if (url === null || url.port === '' || url.hostname === '')
    throw new Error('an address and a port such as 0.0.0.0:25');
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) };
}

/** A proxy on this machine or in a private network (RFC 1918, 3927, 4193, 4291). */
const NEAR_PROXIES = ['loopback', 'linklocal', 'uniquelocal'];

function asProxies(text: string): readonly string[] {
  if (text === 'off') return [];
  if (text === 'on') return NEAR_PROXIES;
  const hops = text.split(',').map((hop) => hop.trim());
  if (!hops.every(isAddressRange))
    throw new Error('off, on, or the addresses of your proxies such as 192.0.2.7, 2001:db8::/32');
  return hops;
}

/** Returns true if a text is an IP address or a CIDR range. A prefix of 0 is rejected, because it would trust every address. */
function isAddressRange(text: string): boolean {
  const [, address = '', , prefix] = /^([^/]+)(\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return bits > 0 && (prefix === undefined || (Number(prefix) > 0 && Number(prefix) <= bits));
}

/** Converts to ASCII form (UTS #46), because SMTP commands that contain it are ASCII. */
function asDomain(text: string): string {
  const domain = /^\p{ASCII}*$/u.test(text) ? text.toLowerCase() : domainToASCII(text);
  if (text !== '' && !/^[a-z\d-]+(\.[a-z\d-]+)+$/.test(domain)) throw new Error('a domain such as bounces.example.com');
  return domain;
}

/** Servers of one NATS cluster, without credentials: these are in files, so that no log and no process list shows them. */
function asNatsServers(text: string): readonly string[] {
  if (text === '') return [];
  const urls = text.split(',').map((part) => part.trim());
  const isServer = (part: string) => {
    const url = /^(nats|tls):\/\//.test(part) && URL.canParse(part) ? new URL(part) : null;
    return (
      url !== null && url.hostname !== '' && url.username === '' && url.password === '' && !/[/?#]/.test(part.slice(7))
    );
  };
  if (!urls.every(isServer) || new Set(urls.map((url) => url.slice(0, 4))).size > 1) {
    throw new Error('nats:// or tls:// with host and port, without a password; several with commas between');
  }
  return urls;
}

function asNodeName(text: string): string {
  if (!/^[A-Za-z\d_-]{0,60}$/.test(text)) throw new Error('at most 60 letters, digits, hyphens and underscores');
  return text;
}

function asTimeZone(text: string): string {
  if (!isTimeZone(text)) throw new Error('an IANA time zone such as Europe/Berlin');
  return text;
}

/**
 * Every setting: its default, its purpose and how its text is parsed. Tests compare the table of docs/settings.md and
 * .env.example with it.
 */
export const SETTINGS = {
  HOST: setting('127.0.0.1', 'Address to listen on.', asText),
  PORT: setting('3000', 'Port to listen on; 0 picks a free one.', integerBetween(0, 65535)),
  PUBLIC_URL: setting(
    '',
    'Origin used in links; needed with an SMTP server or NATS_URL. None: the tracking domain that the dashboard saved in the file, else host and port.',
    parseOrigin,
  ),
  DATABASE_PATH: setting('sendlark.db', 'The one file.', asText),
  SMTP_URL: setting(
    '',
    'SMTP server, smtp(s)://user:pass@host:port; none: the SMTP servers of the dashboard, or the outbox, where nothing leaves the machine.',
    asText,
  ),
  PUBLIC_KEY: setting(
    '',
    'With SECRET_KEY: a key pair always valid for account 1; at least 16 characters each.',
    asKey,
  ),
  SECRET_KEY: setting('', 'See PUBLIC_KEY.', asKey),
  TIME_ZONE: setting('UTC', 'Zone in which schedules are given.', asTimeZone),
  LOG_LEVEL: setting(
    'info',
    'fatal, error, warn, info, debug (adds requests) or trace.',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace'),
  ),
  TRUST_PROXY: setting(
    'off',
    'Reverse proxies whose X-Forwarded-For is believed: their addresses or CIDR ranges, comma-separated; on: any on this machine or in a private network.',
    asProxies,
  ),
  STATUS_CODES: setting(
    'rest',
    'rest, or always-200 for clients that treat other codes as transport failures.',
    oneOf('rest', 'always-200'),
  ),
  MAX_UPLOAD_BYTES: setting('104857600', 'Largest CSV upload.', integerBetween(1, 2 ** 40)),
  RECALL_SECONDS: setting('10', 'How long an immediate send rests before it goes.', integerBetween(0, 86400)),
  SCHEDULE_GRACE_MINUTES: setting(
    '60',
    'A scheduled send missed by more is held instead of going out late.',
    integerBetween(0, 525600),
  ),
  SENDER_VERIFICATION: setting(
    '',
    'required (default with an SMTP server or NATS_URL) or optional (default with the outbox).',
    oneOf('', 'required', 'optional'),
  ),
  SEND_RATE: setting(
    '0',
    'Mails a second, at most; 0: as fast as the SMTP server takes them.',
    integerBetween(0, 1_000_000),
  ),
  SEND_RATE_PER_DOMAIN: setting('0', 'The same to one recipient domain.', integerBetween(0, 1_000_000)),
  SMTP_CONNECTIONS: setting('20', 'Connections to each SMTP server of SMTP_URL, at most.', integerBetween(1, 200)),
  SMTP_HELO: setting(
    '',
    'Name given to the SMTP server in EHLO; default: the host of the tracking domain, else the name of the machine, else its address.',
    asDomain,
  ),
  BOUNCE_LISTEN: setting('', 'host:port on which mail that comes back is taken in; none: no listener.', asHostAndPort),
  BOUNCE_DOMAIN: setting(
    '',
    'Domain of return paths, its MX this machine; default: the sender address itself.',
    asDomain,
  ),
  TRACKING: setting('on', 'off: no pixel, no rewritten link.', oneOf('on', 'off')),
  EVENTS_DAYS: setting(
    '0',
    'Days after which single opens, clicks and events are removed; reports keep their counts. 0: never.',
    integerBetween(0, 36_500),
  ),
  NATS_URL: setting(
    '',
    'NATS servers, nats://host:port or tls://host:port, comma-separated: campaign mail then leaves from sender nodes. None: this process sends.',
    asNatsServers,
  ),
  NATS_CREDENTIALS: setting('', 'File with what NATS knows us by: a credentials file or the seed of an NKey.', asText),
  NATS_CA: setting(
    '',
    'File with the certificates that NATS servers are checked against; none: those of the system.',
    asText,
  ),
  SENDER_NODE: setting('off', 'on: with NATS_URL, serve is a sender node too.', oneOf('on', 'off')),
  NODE_NAME: setting(
    '',
    'Name of this sender node, one of its own for each; default: the name of the machine.',
    asNodeName,
  ),
  WARM_UP: setting(
    '0',
    'Mails that this sender node may send on the first day; half as many more on each day after one on which at least half was used. 0: no ceiling.',
    integerBetween(0, 1_000_000),
  ),
  WEBHOOK_PRIVATE_ADDRESSES: setting(
    'refuse',
    'allow: webhooks and feeds may be at private addresses and use http; refuse: only public ones over https.',
    oneOf('refuse', 'allow'),
  ),
  SHUTDOWN_SECONDS: setting('10', 'How long a stop waits for what is in flight.', integerBetween(0, 600)),
};

export type Config = Readonly<{ [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]['parse']> }>;

/** Reads the settings from `environment`. Throws a one-line Error that names every invalid setting, but never repeats a value. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const values = Object.entries(SETTINGS).map(([name, { fallback, parse }]) => {
    try {
      return [name, parse(environment[name]?.trim() || fallback)];
    } catch (error) {
      faults.push(`${name} is invalid: expected ${error instanceof Error ? error.message : error}`);
      return [name, null];
    }
  });
  const isSet = (name: keyof typeof SETTINGS) => Boolean(environment[name]?.trim());
  if (isSet('PUBLIC_KEY') !== isSet('SECRET_KEY')) {
    faults.push('PUBLIC_KEY and SECRET_KEY are invalid: give both or neither');
  }
  if (isSet('BOUNCE_LISTEN') && !isSet('BOUNCE_DOMAIN')) {
    faults.push('BOUNCE_DOMAIN is invalid: BOUNCE_LISTEN needs the domain of the return paths');
  }
  if (faults.length > 0) throw new Error(faults.join('; '));
  return Object.freeze(Object.fromEntries(values));
}
