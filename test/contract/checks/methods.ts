/** HEAD acts on nothing, and a method the contract does not name is an unknown path. */
import { unknownPath } from '../errors.ts';
import { envelopeProblems, type Probe } from '../probe.ts';
import { validValues } from '../requests.ts';

const OTHERS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export async function methods(probe: Probe): Promise<void> {
  const { endpoint, place } = probe;
  const options = { query: probe.valid().query ?? {} };
  for (const method of OTHERS.filter((other) => !endpoint.methods.some((named) => named === other))) {
    probe.cases++;
    const answer = await place.app.one.call(method, endpoint.path, options);
    const refused = answer.status === 404 && answer.body?.errors === unknownPath;
    probe.report(method, [...(refused ? [] : [`${answer.status} ${answer.text}`]), ...envelopeProblems(answer)]);
    probe.unchanged(method);
  }
  if (!endpoint.methods.includes('GET')) return;
  probe.cases++;
  const pairs = Object.entries(validValues(endpoint, place.own)).map(([name, value]) => [name, String(value)]);
  const url = `/api${endpoint.path}?${new URLSearchParams(Object.fromEntries(pairs))}`;
  const head = await place.app.fastify.inject({ method: 'HEAD', url, headers: place.app.one.headers });
  if (head.payload !== '') probe.report('HEAD', ['has a body']);
  if (endpoint.acts && head.statusCode === 200) probe.report('HEAD', ['answers 200 as if it had acted']);
  probe.unchanged('HEAD');
}
