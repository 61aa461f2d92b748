/** The envelope: every answer below /api has it, whatever goes wrong. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import t from 'tap';
import { isEnvelope } from '../support/answered.ts';
import { startApp } from '../support/app.ts';

t.test('every failure of the framework has the envelope', async (t) => {
  const app = await startApp(t);
  const headers = app.one.headers;
  const requests = {
    404: { method: 'GET', url: '/api/nothing' },
    400: {
      method: 'POST',
      url: '/api/contacts-type/add',
      payload: '{"name":',
      headers: { 'content-type': 'application/json' },
    },
    415: { method: 'POST', url: '/api/contacts-type/add', payload: '<a/>', headers: { 'content-type': 'text/xml' } },
    413: {
      method: 'POST',
      url: '/api/contacts-type/add',
      payload: `name=${'x'.repeat(5_000_000)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
  } as const;
  for (const [status, request] of Object.entries(requests)) {
    const response = await app.fastify.inject({
      ...request,
      headers: { ...headers, ...('headers' in request && request.headers) },
    });
    t.equal(response.statusCode, Number(status));
    t.ok(isEnvelope(response.json()), `${status}: ${response.payload}`);
  }
  const malformed = await app.fastify.inject({ method: 'GET', url: '/api/%zz', headers });
  t.ok(isEnvelope(malformed.json()), malformed.payload);
});

t.test('every JSON answer is one line that ends, so that a terminal stays readable', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const answers = [
    await app.one.call('GET', '/contacts-type'),
    await app.one.call('GET', '/contacts-type', { headers: { 'accept-encoding': 'identity' }, query: { limit: 1 } }),
    await app.one.call('GET', '/contacts-type/view', { query: { contact_type_id: 1 } }),
    await app.one.call('GET', '/contacts-type/view', { query: { contact_type_id: 9 } }),
    await app.one.call('POST', '/contacts-type/add', { form: {} }),
    await app.one.call('GET', '/get/country-state-city'),
    await app.one.call('GET', '/nothing'),
    await app.one.call('GET', '/%zz'),
    await app.anonymous.call('GET', '/contacts-type'),
    await app.page('GET', '/healthz'),
    await app.page('GET', '/readyz'),
    await app.page('GET', '/docs/openapi.json'),
  ];
  for (const { text, headers } of answers) {
    t.equal(text.indexOf('\n'), text.length - 1, text.slice(0, 100));
    t.equal(Number(headers['content-length']), Buffer.byteLength(text));
  }
  const csv = await app.one.call('GET', '/contacts/csv-sample/download');
  t.notMatch(csv.text, /\n\n$/, 'what is no JSON is left as it is');
});

t.test('what Node itself would refuse is answered with the envelope', async (t) => {
  const app = await startApp(t);
  await app.fastify.listen({ port: 0, host: '127.0.0.1' });
  for (const [request, status] of [
    ['NOT HTTP AT ALL\r\n\r\n', 400],
    ['GET /api/contacts-type HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['GET /api/contacts-type HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n', 401],
  ] as const) {
    const socket = connect((app.fastify.server.address() as AddressInfo).port, '127.0.0.1');
    socket.end(request);
    const [answer]: Buffer[] = await once(socket, 'data');
    t.match(String(answer), new RegExp(`^HTTP/1\\.1 ${status} .*"status":"failed".*\\n$`, 's'), request);
  }
});

t.test('STATUS_CODES=always-200 keeps the bodies', async (t) => {
  const app = await startApp(t, { STATUS_CODES: 'always-200' });
  const answers = [
    await app.anonymous.call('GET', '/contacts-type'),
    await app.one.call('GET', '/contacts-type/view', { query: { contact_type_id: 9 } }),
    await app.one.call('POST', '/contacts-type/add', { form: {} }),
    await app.one.call('GET', '/nothing'),
  ];
  for (const { status, body } of answers) {
    t.equal(status, 200);
    t.equal(body.status, 'failed');
  }
});
