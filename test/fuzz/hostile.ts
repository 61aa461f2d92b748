/** What a hostile or broken client sends: values, keys, queries, headers, methods. */
import fc from 'fast-check';

const LONG = 70_000;

const TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1e3',
  '1.5',
  '0x10',
  ' 1',
  'NaN',
  'null',
  'true',
  '9007199254740993',
  '9'.repeat(40),
  '__proto__',
  'constructor',
  'toString',
  'a\u0000b',
  '\u0000',
  '\ud800',
  'a\udfffb',
  '\u2028',
  '\ufeff',
  '\uffff',
  'e\u0301'.repeat(100),
  '\u202egnp.exe',
  'Hi\r\nBcc: x@y.example',
  "' OR 1=1 --",
  '%',
  '%s%n',
  '%00',
  '../../../etc/passwd',
  '((first_name',
  '((first_name|((last_name))))',
  '((unsubscribe))'.repeat(500),
  '<script>alert(1)</script>',
  '<![CDATA[<!--',
  '<a href="javascript:x">',
  '<div>'.repeat(5000),
  '<table><tr><td>'.repeat(1500),
  '{"tagName":"mjml","children":[{"tagName":"mj-body"}]}',
  '{"tagName":"mjml","children":[{"tagName":"mj-include","attributes":{"path":"/etc/passwd"}}]}',
  '{"tagName":5,"children":{}}',
  `${'{"tagName":"mj-section","children":['.repeat(2000)}${']}'.repeat(2000)}`,
  '['.repeat(10_000),
  'contacts_0',
  'contacts_1',
  'segments_1',
  `contacts_${'9'.repeat(30)}`,
  'contacts_-1',
  '2026-02-30',
  '0000-00-00',
  '9999-12-31',
  '25:61',
  '23:59:60',
  'created_at',
  'is between',
  'is empty',
  'contains',
  'a@b.example,'.repeat(2000),
  'a@b.example; <c@d.example>, "e" <f@g.example>',
  '@',
  `${'a'.repeat(64)}@${'b'.repeat(63)}.example`,
  'ÿ@münchen.example',
  'a@[127.0.0.1]',
  '=HYPERLINK("x")',
  'x'.repeat(LONG),
  '💌'.repeat(300),
  ' '.repeat(LONG),
];

const NUMBERS = [0, -0, -1, 1.5, 2 ** 31, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 1e21, 1e308, -1e308, 5e-324];

const nested = (depth: number): unknown => JSON.parse(`${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`);

const OBJECTS: unknown[] = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  [{}],
  [{ id: 1 }, { id: 2 }],
  [{ toString: 1 }],
  [['1']],
  [true],
  ['1', 1, null, ['1']],
  Array.from({ length: 10_001 }, (_, at) => String(at)),
  nested(500),
  { length: 3 },
  { 0: 'a', 1: 'b' },
  { toString: 1, valueOf: 2, constructor: { prototype: 3 } },
  JSON.parse('{"__proto__":{"polluted":1}}'),
  JSON.parse('[{"__proto__":[]}]'),
];

/**
 * Text of any characters. fast-check's own text of unit "binary" first makes a table of all million characters, which takes seconds
 * and 200 MB.
 */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 300 })
  .map((codes) => String.fromCodePoint(...codes));

/** A value of any JSON type, mostly of those that have broken somebody's service before. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(...TEXTS) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(...OBJECTS) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(...NUMBERS) },
  { weight: 2, arbitrary: anyText },
  { weight: 1, arbitrary: fc.integer() },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...TEXTS), { maxLength: 4 }) },
);

/** Endings of a form field's name. */
export const hostileKey = fc.constantFrom(
  '',
  '[]',
  '[0]',
  '[1]',
  '[999999999]',
  '[-1]',
  '[0][1]',
  '[',
  ']',
  '[__proto__]',
  '[constructor]',
  '[a]',
  '\u0000',
  '['.repeat(1000),
);

/** What is put behind a query. */
export const hostileQuery = fc.constantFrom(
  '&%zz',
  '&a=%ff',
  '&%00=%00',
  '&utr=1&utr=2',
  '&id=1&id=2',
  '&limit=0',
  '&limit=10001',
  '&limit=1&limit=2',
  '&after_id=-1',
  '&after_id=9007199254740993',
  '&after_id[]=1',
  '&__proto__[x]=1',
  '&constructor=1',
  '&=',
  '&&&&',
  '?',
  `&x=${'y'.repeat(20_000)}`,
  '&search=%25_%5C',
);

export const hostileHeaders = fc.constantFrom<Record<string, string>>(
  { publickey: '' },
  { secretkey: 'sk_wrong' },
  { publickey: 'x'.repeat(10_000), secretkey: '\u00ff\u0000' },
  { 'content-type': '' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': 'multipart/form-data' },
  { 'content-type': 'multipart/form-data; boundary=' },
  { 'content-type': `multipart/form-data; boundary=${'b'.repeat(300)}` },
  { 'content-type': 'application/x-www-form-urlencoded; charset=latin1' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'text/csv' },
  { 'content-type': ';;;' },
  { 'content-length': '1' },
  { 'content-length': '99999999999' },
  { 'content-length': 'x' },
  { accept: 'text/html' },
  { 'accept-encoding': 'gzip;q=0, *;q=x' },
  { 'if-none-match': '*' },
  { 'if-none-match': `${'"a",'.repeat(2000)}` },
  { 'x-forwarded-for': '\u00ff, ::, 999.1.1.1' },
  { 'x-http-method-override': 'DELETE' },
  { cookie: '='.repeat(5000) },
  { range: 'bytes=9-1' },
);

export const otherMethod = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS');

/** Repeated, these make a pattern that can match in more than one way try all of them. */
export const REPEATED = [
  ...[
    'a',
    'a.',
    '-a.',
    '1',
    '1.',
    '1-',
    '1:',
    '_1',
    ' ',
    '\t',
    '\n ',
    ' \r\n',
    ',',
    ';',
    '"',
    "\\'",
    'ü',
    '\u0308',
    '\u00ad',
  ],
  ...['@', 'a@', '<', '<a ', '<!--', '((', '((a', '((a|b', '(( ', '[', '[0]', '{"a":', '=', '=?', '%', '%4', '&', '&#'],
  ...['contacts_', 'is '],
];
