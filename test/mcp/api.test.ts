/** What the tools of `sendlark mcp` say if the service does not answer as it should. */
import t from 'tap';
import { readRecords, ToolError } from '../../src/mcp/api.ts';
import { startSite } from '../support/feed-site.ts';

t.test('an answer that is not of Sendlark names the setting with the wrong address', async (t) => {
  const site = await startSite(t);
  const service = { url: site.url, publicKey: 'p', secretKey: 's' };
  const problem = new ToolError(`${site.url} does not answer as Sendlark does: check SENDLARK_URL`);
  for (const answer of ['', '<html></html>', 'null', '[]', '{"message":{}}']) {
    site.answer = (reply) => reply.end(answer);
    await t.rejects(readRecords(service, '/overview', {}), problem, answer);
  }
  site.answer = (reply) => reply.end('{"status":"error","errors":{"utr":["wrong"]}}');
  await t.rejects(readRecords(service, '/overview', {}), new ToolError('{"utr":["wrong"]}'));
  site.answer = (reply) => reply.end('{"status":"success","message":{"id":1}}');
  t.strictSame(await readRecords(service, '/overview', {}), { id: 1 });
});
