/** What is fetched from Amazon SNS: over TLS with a certificate of its host, without redirects, and not much. */
import { Agent, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import t from 'tap';
import { amazonDownload } from '../../../src/delivery/feedback/providers/amazon-download.ts';
import { localhostCertificate } from '../../support/smtp/certificate.ts';

const HOST = 'sns.eu-west-1.amazonaws.com';
const ADDRESS = new URL(`https://${HOST}/SimpleNotificationService-01.pem`);
const UNREACHABLE = { message: 'Amazon SNS cannot be reached at the moment' };

t.test('only what Amazon answers with 200, of a certificate of its host, is taken', async (t) => {
  const own = localhostCertificate({ otherName: HOST });
  let answer = { status: 200, body: 'certificate' };
  const asked: string[] = [];
  const server = createServer(own, (request, response) => {
    asked.push(`${request.headers.host}${request.url}`);
    response.writeHead(answer.status, { location: 'https://127.0.0.1/elsewhere' }).end(answer.body);
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;

  /** An agent that comes to the server of the test, whatever the name, and trusts this authority. */
  const agentOf = (ca: string) =>
    Object.assign(new Agent({ keepAlive: false }), {
      createConnection: () => connect({ host: '127.0.0.1', port, servername: HOST, ca }),
    });
  const download = amazonDownload(agentOf(own.cert));
  t.equal(await download(ADDRESS), 'certificate');
  t.strictSame(asked, [`${HOST}/SimpleNotificationService-01.pem`]);

  for (const wrong of [
    { status: 302, body: '' },
    { status: 500, body: '' },
    { status: 200, body: 'x'.repeat(100_000) },
  ]) {
    answer = wrong;
    await t.rejects(download(ADDRESS), UNREACHABLE, `${wrong.status} with ${wrong.body.length} bytes`);
  }
  answer = { status: 200, body: 'certificate' };
  const stranger = localhostCertificate({ otherName: HOST });
  const before = asked.length;
  await t.rejects(amazonDownload(agentOf(stranger.cert))(ADDRESS), UNREACHABLE, 'another authority');
  await t.rejects(amazonDownload()(new URL(`https://127.0.0.1:${port}/`)), UNREACHABLE, 'another host');
  t.equal(asked.length, before, 'nothing was asked over it');
});
