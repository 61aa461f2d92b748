import t from 'tap';
import { readConfig } from '../src/config.ts';

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
    PUBLIC_URL: ['mail.example.com', 'ftp://x.example', 'https://x.example/?q=1'],
    TIME_ZONE: ['Berlin', '+02:00', '__proto__', 'UTC+2'],
    LOG_LEVEL: ['loud'],
    STATUS_CODES: ['200'],
    TRUST_PROXY: ['yes'],
    RECALL_SECONDS: ['ten'],
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
  t.throws(() => readConfig({ SECRET_KEY: 'canary-secret' }), { message: /^PUBLIC_KEY and SECRET_KEY (?!.*canary)/ });
});

t.test('time zones are IANA names', async (t) => {
  for (const zone of ['Europe/Berlin', 'Asia/Kathmandu', 'America/Argentina/Buenos_Aires']) {
    t.equal(readConfig({ TIME_ZONE: zone }).TIME_ZONE, zone);
  }
});

t.test('the public address loses its trailing slash', async (t) => {
  t.equal(readConfig({ PUBLIC_URL: 'https://mail.example.com/' }).PUBLIC_URL, 'https://mail.example.com');
});
