/** The page at `/`: what this service is and where to look next. Anyone can open it, so it reveals nothing about the accounts. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { html } from '../http/html.ts';
import { page, READ } from '../http/page-layout.ts';

export async function startPage(app: FastifyInstance, { config, publicUrl }: Deps): Promise<void> {
  app.route({
    method: READ,
    url: '/',
    handler: (_request, reply) => {
      const api = `${publicUrl()}/api`;
      const outbox = html`<section><h2>Outbox</h2><p>No relay is configured, so no mail leaves this machine; it is kept in the outbox.
<code>GET ${api}/outbox/list</code> lists the mails, and <code>GET ${api}/outbox/details?id=1</code> shows one mail with the address of its copy
for a browser.</p></section>`;
      const relay = html`<section><h2>Sending</h2><p>Mail is sent through a relay. <code>GET ${api}/single-send/report</code> and
<code>GET ${api}/single-send/recipients</code> show the results.</p></section>`;
      return page(
        reply,
        'Sendlark',
        html`<h1>Sendlark</h1>
<p>This server sends e-mail campaigns: contacts and segments, single sends and automations, unsubscribing, opens, clicks and bounces.
You use it through its HTTP interface, <code>${api}</code>, with a pair of keys.</p>
<section><h2>Interface</h2><p><a href="docs">Every endpoint, with examples</a>; for tools, the same as
<a href="docs/openapi.json">OpenAPI</a>. <a href="docs/countries">The ids of the countries</a>.</p></section>
${config.SMTP_URL === '' ? outbox : relay}
<section><h2>Health</h2><p><a href="healthz">healthz</a> says whether the process is alive,
<a href="readyz">readyz</a> whether it can do its work, and <a href="metrics">metrics</a> is for Prometheus.</p></section>`,
      );
    },
  });
}
