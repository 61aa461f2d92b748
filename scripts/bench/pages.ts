/**
 * How long the pages of the dashboard take on the server, and the searches behind them, in an account of so many contacts while a send
 * to all of them leaves to a relay. Every request is made again and again in turn, so that all meet the same load. Before the send begins,
 * each is made on its own to see what it costs the processor.
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
import { inFolder, type Served, served, startedSink } from './measure.ts';
import { report } from './report.ts';
import { signIn } from './sign-in.ts';

const contacts = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 40);
/** Rounds that are not counted, in which the service compiles its own code. */
const WARM_UP = 3;
const GOAL_MS = 50;
/** How many pages the table shows: the slowest. */
const SLOWEST = 12;
/** CPU time is measured in steps of 10 ms, so each page is requested this number of times. */
const CPU_ROUNDS = 40;

/** What a page of the dashboard sends with its requests, beside the cookie. */
const FROM_PAGE = { 'x-sendlark': 'dashboard', 'sec-fetch-site': 'same-origin' };
const agent = new Agent({ keepAlive: true });

/** Gets a page and reads it to its end; gives the milliseconds. */
async function timed(origin: string, path: string, cookie: string): Promise<number> {
  const started = performance.now();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${origin}${path}`, { agent, headers: { cookie, ...FROM_PAGE } }, resolve)
      .on('error', reject)
      .end();
  });
  for await (const _ of answer);
  if (answer.statusCode !== 200) throw new Error(`${path} answers ${answer.statusCode}`);
  return performance.now() - started;
}

/** The milliseconds of the processor that a page costs the service while it does nothing else. */
async function cpuMs({ origin, used }: Served, path: string, cookie: string): Promise<number> {
  for (let round = 0; round < WARM_UP; round++) await timed(origin, path, cookie);
  const before = used().cpuSeconds;
  for (let round = 0; round < CPU_ROUNDS; round++) await timed(origin, path, cookie);
  return Math.round(((used().cpuSeconds - before) / CPU_ROUNDS) * 1e5) / 100;
}

/** The pages, by what the table calls them. */
async function pagesOf(origin: string, cookie: string, utr: string): Promise<Record<string, string>> {
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
  const headers = { cookie, ...FROM_PAGE };
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
  const typed = ['p', 'pe', 'per', 'pers', 'person5', 'person50000'];
  const searches = {
    'search: nobody': 'nobodyofthisname',
    'search: one': addressOf(middle),
    'search: hundreds': '4242',
    'search: one in twelve': 'zoë',
    'search: everybody': 'person',
    'search: two words': 'zoë müller',
    ...Object.fromEntries(typed.map((word) => [`typed: ${word}`, word])),
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
  const sink = await startedSink();
  const settings = { SMTP_URL: sink.url, PUBLIC_URL: 'https://mail.example.com', SENDER_VERIFICATION: 'optional' };
  const service = await served(file, settings);
  const { singleSends } = await call<{ singleSends: { utr: string }[] }>(apiOf(service.origin), '/single-send/list');
  const cpu = new Map<string, number>();
  for (const [name, path] of Object.entries(await pagesOf(service.origin, cookie, singleSends[0]?.utr ?? '')))
    cpu.set(name, await cpuMs(service, path, cookie));
  const { utr } = await post<{ utr: string }>(apiOf(service.origin), '/single/send/create', sendTo(1, 'To everybody'));
  // The service notices that it runs on a copy, and holds sending until an operator releases it.
  sendlark(file, ['release']);
  for (const until = performance.now() + 60_000; (await sink.totals()).messages === 0; await setTimeout(100))
    if (performance.now() > until) throw new Error('the send did not begin');
  const pages = Object.entries(await pagesOf(service.origin, cookie, utr));
  const times = new Map<string, number[]>(pages.map(([name]) => [name, []]));
  const before = (await sink.totals()).messages;
  const began = performance.now();
  for (let round = 0; round < rounds + WARM_UP; round++) {
    if (round === WARM_UP) await service.longestStretch();
    for (const [name, path] of pages) {
      const taken = await timed(service.origin, path, cookie);
      if (round >= WARM_UP) times.get(name)?.push(taken);
    }
  }
  const stretch = await service.longestStretch();
  const sent = (await sink.totals()).messages - before;
  const seconds = (performance.now() - began) / 1000;
  const measured = [...times]
    .map(([name, taken]) => ({ name, ...percentiles(taken) }))
    .sort((one, other) => other.p95 - one.p95);
  report(
    Object.fromEntries(
      measured.slice(0, SLOWEST).map(({ name, p50, p95, most }) => [
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
      `the other ${measured.length - SLOWEST} pages and searches: a p95 of ${measured[SLOWEST]?.p95} ms at most`,
      `${Math.round(sent / seconds)} mails/s beside it, ${rounds} rounds, ${contacts} contacts; goal: p95 of ${GOAL_MS} ms`,
      `longest stretch on the HTTP thread: ${stretch} ms`,
    ],
  );
  await service.close();
  sink.close();
  agent.destroy();
});
