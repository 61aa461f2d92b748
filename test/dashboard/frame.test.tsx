/** What is around every page of the dashboard: document, headers, languages, static files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { chooseLanguage } from '../../src/ui/words/choose.ts';
import { de } from '../../src/ui/words/de/index.ts';
import { en } from '../../src/ui/words/en/index.ts';
import { startApp } from '../support/app.ts';
import { gallery } from '../support/dashboard/gallery.tsx';

async function start(t: Test) {
  const { fastify } = await startApp(t);
  await fastify.register(gallery);
  return fastify;
}

t.test('a page has its title, its place in the navigation, and names of records as text', async (t) => {
  const app = await start(t);
  const { payload, headers, statusCode } = await app.inject('/gallery');
  t.equal(statusCode, 200);
  t.match(headers['content-type'], 'text/html; charset=utf-8');
  t.match(payload, /^<!doctype html>\n<html lang="en"/);
  t.match(payload, '<title>Components · Sendlark</title>');
  t.match(payload, /<a href="\/campaigns" data-key="c" aria-current="page">/);
  t.match(payload, '&lt;script>alert(1)&lt;/script>');
  t.notMatch(payload, '<script>alert');
});

t.test('a page runs and loads nothing but our own files, and has nothing inline', async (t) => {
  const app = await start(t);
  const { payload, headers } = await app.inject('/gallery');
  t.match(headers['content-security-policy'], "default-src 'none'; script-src 'self'; style-src 'self';");
  t.equal(headers['cache-control'], 'no-store');
  t.notMatch(payload, / style=| on[a-z]+=|<style|<script(?! type="module" src="\/assets\/)/);
});

t.test('scripts and styles are kept for a year under the hash of their content, and come compressed', async (t) => {
  const app = await start(t);
  const { payload } = await app.inject('/gallery');
  const urls = [...payload.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, url]) => url ?? '');
  t.ok(urls.length >= 2);
  for (const url of urls) {
    t.match(url, /-[A-Z0-9]{8}\.(js|css)$/);
    for (const encoding of ['br', 'gzip']) {
      const { headers, statusCode } = await app.inject({ url, headers: { 'accept-encoding': encoding } });
      t.match(
        [statusCode, headers],
        [200, { 'content-encoding': encoding, 'cache-control': 'public, max-age=31536000, immutable' }],
      );
    }
  }
  t.equal((await app.inject('/assets/manifest.json')).statusCode, 404);
  for (const folder of ['/assets/', '/images/templates/']) {
    t.equal((await app.inject(`${folder}${'x'.repeat(900)}.png`)).statusCode, 404, 'longer than names of files can be');
  }
});

t.test('an error page says what happened in the frame, with its status', async (t) => {
  const app = await start(t);
  for (const [status, title] of [
    [403, 'Not allowed'],
    [404, 'Page not found'],
    [500, 'Something went wrong'],
  ] as const) {
    const { payload, statusCode } = await app.inject(`/gallery/errors/${status}`);
    t.equal(statusCode, status);
    t.match(payload, `<h1>${title}</h1>`);
  }
});

t.test('what was done is said on the next page, once, and nothing else can be put into its cookie', async (t) => {
  const app = await start(t);
  const { headers } = await app.inject({ method: 'POST', url: '/gallery' });
  const flash = String(headers['set-cookie']);
  t.match(flash, /^sendlark_flash=[\w-]+; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/);
  const encrypted = { cookie: `__Host-sendlark=${'s'.repeat(43)}` };
  const overHttps = await app.inject({ method: 'POST', url: '/gallery', headers: encrypted });
  t.match(
    overHttps.headers['set-cookie'],
    /; Max-Age=60; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    'over https, for https only',
  );
  const open = (cookie: string) => app.inject({ url: '/gallery', headers: { cookie } });
  const next = await open(`other=1; ${flash.split(';')[0]}`);
  t.match(next.payload, /role="status">.*?You have 1,200 contacts\./);
  t.match(next.headers['set-cookie'], /^sendlark_flash=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/);
  const forge = (value: unknown) => `sendlark_flash=${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
  const none = (await open('')).payload;
  for (const value of [
    null,
    1,
    {},
    { tone: 'good', key: 'toString', values: {} },
    { tone: 'x', key: 'nav.home', values: {} },
  ]) {
    t.equal((await open(forge(value))).payload, none, JSON.stringify(value));
  }
});

t.test('a refusal says on the page why, whether of the whole request or of its fields', async (t) => {
  const app = await start(t);
  t.match((await app.inject('/gallery/conflict')).payload, /<h1>That did not work<\/h1>.*<p>It is in use\.<\/p>/s);
  t.match((await app.inject('/gallery/invalid')).payload, '<p>A &lt;b>.</p>');
});

t.test('the language is the user’s, else the first the browser asks for that there is', async (t) => {
  t.match(chooseLanguage('de', 'en-US', undefined), { code: 'de', locale: 'de' });
  t.match(chooseLanguage(null, 'fr, de-AT;q=0.8, en;q=0.7', undefined), { code: 'de', locale: 'de-AT' });
  t.match(chooseLanguage('de', 'en-US, de-CH;q=0.3', 'Europe/Zurich'), { locale: 'de-CH', zone: 'Europe/Zurich' });
  t.match(chooseLanguage(null, 'xx-€;q=, ,;', 'No/Where'), { code: 'en', zone: 'UTC' });
  const app = await start(t);
  const { payload } = await app.inject({ url: '/gallery', headers: { 'accept-language': 'de' } });
  t.match(payload, '<html lang="de"');
  t.match(payload, 'Einstellungen');
});

t.test('every language has the same texts with the same values', async (t) => {
  const holes = (entry: unknown) => [...JSON.stringify(entry).matchAll(/\{\w+\}/g)].map(([hole]) => hole).sort();
  const holesByKey = (texts: object) =>
    Object.fromEntries(Object.entries(texts).map(([key, entry]) => [key, [...new Set(holes(entry))]]));
  t.strictSame(Object.keys(de), Object.keys(en));
  t.strictSame(holesByKey(de), holesByKey(en));
});

t.test('no two style sheets of screens have rules for the same class, so that no screen changes another', async (t) => {
  const folder = join(import.meta.dirname, '../../src/ui/styles');
  const owners = new Map<string, string>();
  const shared: string[] = [];
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.css'),
  )) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^\.([a-z][\w-]*)(?=[\s,>:{])/gm)) {
      const owner = owners.get(name) ?? file;
      owners.set(name, owner);
      if (owner !== file) shared.push(`.${name} in ${owner} and ${file}`);
    }
  }
  t.strictSame([...new Set(shared)], []);
});

t.test('a table that may scroll sideways takes the focus under its name, so that keys scroll it', async (t) => {
  const app = await start(t);
  const { payload } = await app.inject('/gallery');
  const regions = [...payload.matchAll(/<(\w+) class="table-wrap"([^>]*)>/g)];
  t.ok(regions.length > 0);
  for (const [, element, attributes] of regions) {
    t.equal(element, 'section');
    t.match(attributes, /aria-label="[^"]+" tabindex="0"/);
  }
});

t.test('an empty list has the lark, a title, one sentence and one action', async (t) => {
  const app = await start(t);
  const { payload } = await app.inject('/gallery');
  const empty =
    /<div class="empty">(<svg class="lark"[^>]*aria-hidden="true".*?<\/svg>)<h2>[^<]+<\/h2><p>[^<]+<\/p><a [^>]+>[^<]+<\/a><\/div>/s;
  t.match(payload, empty);
  t.notMatch(empty.exec(payload)?.[1], /#[0-9a-f]{3}|rgb/, 'in the colours of the page');
});

t.test('six days ahead stay six days a moment later, and what is past counts whole units', async (t) => {
  const language = chooseLanguage('en', undefined, undefined);
  const now = new Date('2026-03-01T12:00:00.300Z');
  const said = (time: string) => language.relative(new Date(time), now);
  t.equal(said('2026-03-07T12:00:00.000Z'), 'in 6 days');
  t.equal(said('2026-03-02T12:00:00.000Z'), 'tomorrow');
  t.equal(said('2026-03-01T09:10:00.000Z'), '2 hours ago');
});
