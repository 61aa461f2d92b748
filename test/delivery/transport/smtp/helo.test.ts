/** How we introduce ourselves to a relay. */
import fc from 'fast-check';
import t from 'tap';
import { readConfig } from '../../../../src/config.ts';
import { heloName, isPublicName } from '../../../../src/delivery/transport/smtp/helo.ts';

t.test(
  'RFC 5321 4.1.1.1: EHLO gives the setting, the host of PUBLIC_URL, the name of the machine, or else the address',
  async (t) => {
    const cases: [given: string, publicUrl: string, machine: string, said: string][] = [
      ['mx.example.com', 'https://mail.example.com', 'host.example.net', 'mx.example.com'],
      ['', 'https://mail.example.com:8443/path', 'host.example.net', 'mail.example.com'],
      ['', 'https://čaj.example', 'host.example.net', 'xn--aj-dma.example'],
      ['', '', 'Host.Example.NET', 'host.example.net'],
      ['', 'https://192.0.2.1', 'host.example.net', 'host.example.net'],
      ['', 'https://[2001:db8::1]', 'host.example.net', 'host.example.net'],
      ['', 'http://localhost:3000', 'laptop', ''],
      ['', 'http://intranet', 'localhost.localdomain', ''],
      ['', '', 'ip-10-0-0-1.ec2.internal', ''],
    ];
    for (const [given, publicUrl, machine, said] of cases) {
      t.equal(await heloName(given, publicUrl, async () => machine), said, `${given} ${publicUrl} ${machine}`);
    }
  },
);

t.test('the name of this machine is found or there is none', async (t) => {
  const name = await heloName('', '');
  t.ok(name === '' || isPublicName(name), name);
});

t.test('SMTP_HELO is a domain name and used in ASCII form', async (t) => {
  t.equal(readConfig({ SMTP_HELO: 'Mail.Čaj.example' }).SMTP_HELO, 'mail.xn--aj-dma.example');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      try {
        return /^[a-z\d.-]*$/.test(readConfig({ SMTP_HELO: text }).SMTP_HELO);
      } catch (error) {
        return error instanceof Error && error.message.includes('SMTP_HELO is invalid');
      }
    }),
  );
  t.pass();
});
