/**
 * Measures how long the server takes for the pages of the dashboard, and for the searches behind them, in a large account while a send to
 * all contacts goes to a relay. Each round makes every request once, so that all meet the same load. Before the send begins, each request
 * is repeated alone, to measure its CPU time. The numbers are for how many contacts the account has and for how many rounds are counted.
 *
 *   npm run bench:pages -- [contacts] [rounds]
 */
import { copyFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { FormData, fetch } from 'undici';
import { call, post } from '../api-client.ts';
import { addressOf, apiOf, largeAccount, sendlark, sendTo } from './large-account.ts';
import { percentiles } from './load.ts';
import { inFolder, type RunningService, startService, startSink } from './measure.ts';
import { report } from './report.ts';
import { signIn } from './sign-in.ts';

const contacts = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 40);
/** Rounds before the counted ones, in which Node compiles the service's code. */
const WARM_UP_ROUNDS = 3;
const GOAL_MS = 50;
/** The table shows this number of pages and searches: the slowest ones. */
const SHOWN = 12;
/** How often each page is requested to measure its CPU time, which the system counts in steps of 10 ms. */
const CPU_ROUNDS = 40;

/** The headers that a page of the dashboard sends with its requests, beside the cookie. */
const PAGE_HEADERS = { 'x-sendlark': 'dashboard', 'sec-fetch-site': 'same-origin' };
const agent = new Agent({ keepAlive: true });

/** Requests a page and reads it to its end. Returns the milliseconds that this took. */
async function timePage(origin: string, path: string, cookie: string): Promise<number> {
  const started = performance.now();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${origin}${path}`, { agent, headers: { cookie, ...PAGE_HEADERS } }, resolve)
      .on('error', reject)
      .end();
  });
  for await (const _ of answer);
  if (answer.statusCode !== 200) throw new Error(`${path} answers ${answer.statusCode}`);
  return performance.now() - started;
}

/** Returns the CPU milliseconds that the service needs for a page while it does nothing else. */
async function cpuMs({ origin, usage }: RunningService, path: string, cookie: string): Promise<number> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await timePage(origin, path, cookie);
  const before = usage().cpuSeconds;
  for (let round = 0; round < CPU_ROUNDS; round++) await timePage(origin, path, cookie);
  return Math.round(((usage().cpuSeconds - before) / CPU_ROUNDS) * 1e5) / 100;
}

/** The paths of the pages and searches, by their names in the table. `utr` is the single send whose pages are among them. */
async function pathsByName(origin: string, cookie: string, utr: string): Promise<Record<string, string>> {
  const api = apiOf(origin);
  const { automations } = await call<{ automations: { utr: string }[] }>(api, '/automations');
  const { mails } = await call<{ mails: { id: number }[] }>(api, '/outbox/list?order=newest&limit=1');
  const { job } = await post<{ job: { id: number } }>(api, '/contacts/jobs/start', {
    action: 'segment',
    to_segment_id: '1',
    everything: '1',
    search: addressOf(7),
  });
  const form = new FormData();
  form.set('file', new Blob(['email,first_name\nzoe@example.org,Zoë\n']), 'readers.csv');
  const headers = { cookie, ...PAGE_HEADERS };
  const uploaded = await fetch(`${origin}/contacts/import`, {
    method: 'POST',
    headers,
    body: form,
    redirect: 'manual',
  });
  const middle = Math.floor(contacts / 2);
  const paths = [
    '/',
    '/campaigns',
    '/campaigns?search=plan',
    `/campaigns/${utr}`,
    `/campaigns/${utr}/recipients`,
    `/campaigns/${utr}/recipients?state=delivered`,
    '/automations',
    `/automations/${automations[0]?.utr}`,
    '/contacts',
    '/contacts?search=nobodyofthisname',
    `/contacts?search=${addressOf(middle)}`,
    '/contacts?search=zo%C3%AB',
    '/contacts?order=email',
    '/contacts?mail_state=unsubscribed',
    '/contacts?mail_state=suppressed',
    '/contacts?segment_id=1',
    '/contacts?field=city&operator=contains&value=nowhere',
    `/contacts/${middle}`,
    `/contacts/actions/${job.id}`,
    '/contacts/import',
    uploaded.headers.get('location') ?? '',
    '/unsubscribes',
    '/unsubscribes/topics',
    '/unsubscribes/suppressions',
    `/unsubscribes/lift?list=all&email=${addressOf(0)}`,
    '/outbox',
    `/outbox/${mails[0]?.id}`,
    '/settings/senders',
    '/settings/users',
    '/settings/keys',
    '/settings/sessions',
    '/settings/audit',
    '/settings/health',
    '/settings/second-factor',
  ];
  const typedWords = ['p', 'pe', 'per', 'pers', 'person5', 'person50000'];
  const searches = {
    'search: nobody': 'nobodyofthisname',
    'search: one': addressOf(middle),
    'search: hundreds': '4242',
    'search: one in twelve': 'zoë',
    'search: everybody': 'person',
    'search: two words': 'zoë müller',
    ...Object.fromEntries(typedWords.map((word) => [`typed: ${word}`, word])),
  };
  return {
    ...Object.fromEntries(
      paths.map((path) => [
        path.replace(utr, 'UTR').replace(/(?:[\w-]{20,}|\/\d+)$/, (id) => (id.startsWith('/') ? '/ID' : 'ID')),
        path,
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(searches).map(([name, word]) => [
        name,
        `/api/contacts/search?limit=50&search=${encodeURIComponent(word)}`,
      ]),
    ),
  };
}

await inFolder(async (folder) => {
  const file = join(folder, 'bench.db');
  copyFileSync(await largeAccount(contacts), file);
  const cookie = signIn(file);
  const sink = await startSink();
  const settings = { SMTP_URL: sink.url, PUBLIC_URL: 'https://mail.example.com', SENDER_VERIFICATION: 'optional' };
  const service = await startService(file, settings);
  const { singleSends } = await call<{ singleSends: { utr: string }[] }>(apiOf(service.origin), '/single-send/list');
  const cpu = new Map<string, number>();
  for (const [name, path] of Object.entries(await pathsByName(service.origin, cookie, singleSends[0]?.utr ?? '')))
    cpu.set(name, await cpuMs(service, path, cookie));
  const { utr } = await post<{ utr: string }>(apiOf(service.origin), '/single/send/create', sendTo(1, 'To everybody'));
  // The service notices that its database is a copy, and holds sending until an operator releases it.
  sendlark(file, ['release']);
  for (const until = performance.now() + 60_000; (await sink.totals()).messages === 0; await setTimeout(100))
    if (performance.now() > until) throw new Error('the send did not begin');
  const pages = Object.entries(await pathsByName(service.origin, cookie, utr));
  const times = new Map<string, number[]>(pages.map(([name]) => [name, []]));
  const before = (await sink.totals()).messages;
  const started = performance.now();
  for (let round = 0; round < rounds + WARM_UP_ROUNDS; round++) {
    if (round === WARM_UP_ROUNDS) await service.longestStretch();
    for (const [name, path] of pages) {
      const milliseconds = await timePage(service.origin, path, cookie);
      if (round >= WARM_UP_ROUNDS) times.get(name)?.push(milliseconds);
    }
  }
  const stretch = await service.longestStretch();
  const sent = (await sink.totals()).messages - before;
  const seconds = (performance.now() - started) / 1000;
  const slowestFirst = [...times]
    .map(([name, milliseconds]) => ({ name, ...percentiles(milliseconds) }))
    .sort((a, b) => b.p95 - a.p95);
  report(
    Object.fromEntries(
      slowestFirst.slice(0, SHOWN).map(({ name, p50, p95, most }) => [
        name,
        {
          'p50 ms': p50,
          'p95 ms': p95,
          'most ms': most,
          'CPU ms': cpu.get(name) ?? 0,
          goal: p95 <= GOAL_MS ? 'met' : 'missed',
        },
      ]),
    ),
    [
      `the other ${slowestFirst.length - SHOWN} pages and searches: a p95 of ${slowestFirst[SHOWN]?.p95} ms at most`,
      `${Math.round(sent / seconds)} mails/s beside it, ${rounds} rounds, ${contacts} contacts; goal: p95 of ${GOAL_MS} ms`,
      `longest stretch on the HTTP thread: ${stretch} ms`,
    ],
  );
  await service.close();
  sink.close();
  agent.destroy();
});
