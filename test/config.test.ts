import t from 'tap';
import { misspelt } from '../src/commands/settings.ts';
import { readConfig } from '../src/config.ts';
import { environmentFileFaults } from '../src/env-file.ts';

t.test('defaults serve a laptop', async (t) => {
  const config = readConfig({});
  t.match(config, {
    HOST: '127.0.0.1',
    PORT: 3000,
    DATABASE_PATH: 'sendlark.db',
    SMTP_URL: '',
    TIME_ZONE: 'UTC',
    LOG_LEVEL: 'info',
  });
  t.throws(() => Object.assign(config, { PORT: 1 }), 'it is frozen');
});

t.test('an empty setting is its default', async (t) => {
  t.equal(readConfig({ PORT: ' ' }).PORT, 3000);
});

t.test('an invalid setting stops the start with one line that names it and never repeats it', async (t) => {
  const wrong: Record<string, string[]> = {
    PORT: ['http', '-1', '70000', '1e3'],
    PUBLIC_URL: [
      'mail.example.com',
      'ftp://x.example',
      'https://x.example/?q=1',
      'https://x.example/mail',
      'https://user:canary@x.example',
    ],
    PUBLIC_KEY: ['a', 'fifteen_letters', 'sixteen letters!', 'schlüssel_schlüssel'],
    TIME_ZONE: ['Berlin', '+02:00', '__proto__', 'UTC+2'],
    LOG_LEVEL: ['loud'],
    STATUS_CODES: ['200'],
    TRUST_PROXY: ['yes', 'localhost', '10.0.0.0/33', '0.0.0.0/0', '10.0.0.1,', '::1/129', 'loopback'],
    RECALL_SECONDS: ['ten'],
    NATS_URL: [
      '127.0.0.1:4222',
      'http://127.0.0.1:4222',
      'nats://user:canary@127.0.0.1:4222',
      'nats://a.example/x',
      'nats://a.example,tls://b.example',
    ],
    SENDER_NODE: ['yes'],
    NODE_NAME: ['node one', 'a.b', 'n*'],
    SENDER_VERIFICATION: ['maybe'],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      t.throws(
        () => readConfig({ [name]: value }),
        { message: new RegExp(`^${name} is invalid: [^\\n]+$`) },
        `${name}=${value}`,
      );
    }
  }
  t.throws(() => readConfig({ SECRET_KEY: 'canary-secret-of-24-signs' }), {
    message: /^PUBLIC_KEY and SECRET_KEY (?!.*canary)/,
  });
});

t.test('NATS servers are given one by one', async (t) => {
  t.strictSame(readConfig({}).NATS_URL, []);
  t.strictSame(readConfig({ NATS_URL: 'tls://a.example:4222, tls://b.example' }).NATS_URL, [
    'tls://a.example:4222',
    'tls://b.example',
  ]);
});

t.test('time zones are IANA names', async (t) => {
  for (const zone of ['Europe/Berlin', 'Asia/Kathmandu', 'America/Argentina/Buenos_Aires']) {
    t.equal(readConfig({ TIME_ZONE: zone }).TIME_ZONE, zone);
  }
});

t.test('the public address loses its trailing slash', async (t) => {
  t.equal(readConfig({ PUBLIC_URL: 'https://mail.example.com/' }).PUBLIC_URL, 'https://mail.example.com');
});

t.test('every invalid setting is named at once, in one line', async (t) => {
  const settings = { PORT: 'http', TIME_ZONE: 'Berlin', SENDER_VERIFICATION: 'maybe', BOUNCE_LISTEN: '127.0.0.1:2525' };
  t.throws(() => readConfig(settings), {
    message:
      /^PORT is invalid: [^\n]+; TIME_ZONE is invalid: [^\n]+; SENDER_VERIFICATION is invalid: expected one of required, optional; BOUNCE_DOMAIN [^\n]+$/,
  });
});

t.test('a key pair of the settings has at least 16 characters each', async (t) => {
  const long = 'a-long-enough-key';
  t.throws(() => readConfig({ PUBLIC_KEY: 'a', SECRET_KEY: 'b' }), {
    message:
      'PUBLIC_KEY is invalid: expected at least 16 characters, letters, digits or signs without spaces; SECRET_KEY is invalid: expected at least 16 characters, letters, digits or signs without spaces',
  });
  t.match(readConfig({ PUBLIC_KEY: long, SECRET_KEY: long }), { PUBLIC_KEY: long, SECRET_KEY: long });
});

t.test('a name that is nearly a setting is pointed out, without its value', async (t) => {
  const typos = { SMPT_URL: 'smtp://canary', PUBLICURL: 'x', DATABASE_PAHT: 'x', smtp_url: 'x', 'TIME-ZONE': 'x' };
  t.strictSame(
    misspelt({
      ...typos,
      NODE: '/usr/bin/node',
      npm_config_prefix: '/',
      PATH: '/bin',
      HOME: '/',
      HTTPS_PROXY: 'x',
      HOSTNAME: 'x',
      TZ: 'UTC',
    }),
    [
      'SMPT_URL is not a setting and is ignored: did you mean SMTP_URL?',
      'PUBLICURL is not a setting and is ignored: did you mean PUBLIC_URL?',
      'DATABASE_PAHT is not a setting and is ignored: did you mean DATABASE_PATH?',
      'smtp_url is not a setting and is ignored: did you mean SMTP_URL?',
      'TIME-ZONE is not a setting and is ignored: did you mean TIME_ZONE?',
    ],
  );
  t.strictSame(
    misspelt({ DATABASE: 'x', SMTP: 'x', PATH: 'x' }),
    ['DATABASE is not a setting and is ignored: did you mean DATABASE_PATH?'],
    'the beginning of one setting alone is enough',
  );
  t.strictSame(misspelt({ SMTP_URL: 'x', PUBLIC_URL: 'x', SMPT_URL: ' ' }), []);
});

t.test(
  'a line of .env that is not read, a byte order mark and a colon for the sign = are said with their line',
  async (t) => {
    const said = (text: string) => environmentFileFaults(text).map((fault) => fault.replace(/^.*\.env, /, ''));
    t.strictSame(said('# a comment\n\nPORT=3000\r\nexport HOST = "::1"\n  SECRET_KEY=\n'), []);
    t.strictSame(said('SECRET_KEY="two\nlines of it: here"\nPORT=1\nNAME=\'a\nb: c\'\n'), []);
    t.strictSame(said('\ufeffPORT=1'), [
      'line 1: a byte order mark, which is ignored: save the file as UTF-8 without one',
    ]);
    t.strictSame(said('PORT=1\nSECRET_KEY: s3cret\nsome words s3cret\n=x\n'), [
      'line 2: write SECRET_KEY=value, not SECRET_KEY: value',
      'line 3: no setting: write NAME=value, or # before a comment',
      'line 4: no setting: write NAME=value, or # before a comment',
    ]);
  },
);
