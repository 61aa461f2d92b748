/** Conditions in mails: what is understood, what is refused with its place, and which contacts get which branch. */
import t from 'tap';
import { templateProblem } from '../../../src/delivery/compiling/compile.ts';
import { AskedValues, parseCondition, prepareCondition } from '../../../src/delivery/content/conditions.ts';
import { htmlConditionProblem } from '../../../src/delivery/content/html-regions.ts';
import { mergeHtml, mergeLine, mergeText } from '../../../src/delivery/content/merge.ts';
import { conditionProblem, placeholderNames, scan } from '../../../src/delivery/content/placeholders.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import { createSend, outboxOf, RECALL, readyToSend } from '../../support/single-sends.ts';

const holds = (written: string, values: Record<string, string>) => {
  const parsed = parseCondition(written);
  if ('fault' in parsed) throw new Error(String(parsed.fault));
  return prepareCondition(parsed)(new AskedValues((name) => values[name]));
};

t.test('the operators compare as the rules of segments do: without case, numbers as numbers, unset as blank', (t) => {
  const values = { plan: 'Pro', age: '9', city: 'München', joined: '2026-03-01' };
  for (const written of [
    'plan = "pro"',
    "plan = 'PRO'",
    'plan = “pro”',
    'plan is "pro"',
    'plan',
    'plan is not blank',
    'plan != "basic"',
    'missing != "basic"',
    'missing is blank',
    'age < 10',
    'age = 9.0',
    'age >= 9',
    'age is less than 10',
    'joined >= "2026-01-01"',
    'joined < "2026-12-31"',
    'city contains "ÜNCH"',
    'city starts with "mün" and city ends with "chen"',
    'plan = "basic" or age > 8',
  ])
    t.ok(holds(written, values), written);
  for (const written of [
    'plan = "basic"',
    'missing',
    'missing > 3',
    'missing < 3',
    'missing = "x"',
    'constructor',
    '__proto__',
    'plan is blank',
    'plan = "pro" and age > 9',
    'city does not contain "mün"',
  ])
    t.notOk(holds(written, values), written);
  t.end();
});

t.test('a wrong condition is refused with its line and column', (t) => {
  for (const [text, fault] of [
    ['((if plan = "pro"))no end', 'line 1, column 1'],
    ['a\n  ((if plan =))b((end))', 'line 2, column 3 (((if plan =))b((end))…): a value in quotes is missing'],
    ['((if plan ~ "x"))b((end))', '“~ "x"” is not understood'],
    ['((if a = "1" and b = "2" or c = "3"))b((end))', '“and” and “or” cannot be mixed'],
    ['((if a))1((else))2((else))3((end))', 'column 19'],
    ['((if a))((if b))((if c))((if d))x((end))((end))((end))((end))', 'more than 3 deep'],
    ['((if plan = "(x)"))b((end))', 'parentheses'],
    ['((if plan =\n"x"))b((end))', 'a line break'],
    ['((if\u00a0plan ~ "x"))b((end))', 'is not understood'],
    [`((if ${Array.from({ length: 11 }, (_, at) => `a = "${at}"`).join(' or ')}))x((end))`, 'more than 10 rules'],
  ] as const)
    t.match(String(conditionProblem(text)), fault, text);
  t.match(String(htmlConditionProblem('<p>a</p>\n<a href="((if plan))x((end))">b</a>')), 'line 2, column 10');
  t.match(String(htmlConditionProblem('<p>a</p>\n<a href="((if plan))x((end))">b</a>')), 'inside an HTML tag');
  for (const text of [
    'no condition at all, ((else)) and ((end)) are merge tags here',
    '((if plan = "pro"))a((else))b((end))',
    '((if a))1((if b))2((if c))3((end))((end))((end))',
    '((IF a))1((Else))2((END))',
  ])
    t.equal(conditionProblem(text), null, text);
  t.equal(htmlConditionProblem('<p>5 < 6 ((if a))b((end))</p><!-- a > b -->((if a))b((end))'), null);
  t.match(String(htmlConditionProblem('<p>x</p><!-- ((if a))b((end)) -->')), 'inside an HTML tag');
  t.equal(
    htmlConditionProblem('<b>((if age &gt; 5))a((end))</b> ((if a &lt;= &quot;5&quot;))b((end)) ((if a < 5))c((end))'),
    null,
  );
  t.end();
});

t.test('the conditions of a text have 500 rules at most, also where others saved more', async (t) => {
  const ten = Array.from({ length: 10 }, (_, at) => `plan contains "${at}ä"`).join(' or ');
  const most = `((if ${ten}))x((end))\n`.repeat(50);
  t.equal(conditionProblem(most), null);
  t.match(String(conditionProblem(`${most}a ((if b))c((end))`)), 'line 51, column 3 (((if b))c((end))…)');
  t.match(String(conditionProblem(`${most}a ((if b))c((end))`)), 'more than 500 rules');
  const content = { json: null, preheader: '', subject: '', tracking: false, footer: false };
  const source = { ...content, template_json: null, template_html: `${most}((if b))c((end))` };
  await t.rejects(buildContent(source), { message: /more than 500 rules/ });
  t.match(mergeText(scan(source.template_html), { plan: '3Ä', b: '1' }), /^(x\n){50}c$/, 'what was compiled before');
  t.end();
});

t.test('a long value is folded once for a contact, and only if a rule compares it', (t) => {
  const long = 'ABC'.repeat(40);
  const text = scan(
    '((if plan contains "a" and city))1((end))((if plan is "b" or plan ends with "c"))2((end))'.repeat(9),
  );
  const { normalize } = String.prototype;
  const folded: string[] = [];
  mergeText(text, {});
  t.intercept(String.prototype, 'normalize', {
    value(this: string, form: 'NFC') {
      folded.push(String(this));
      return Reflect.apply(normalize, this, [form]);
    },
  });
  t.equal(mergeText(text, { plan: long, city: long }), '12'.repeat(9));
  t.strictSame(folded, [long.toLowerCase()]);
  t.end();
});

t.test('the spaces that editors write and capital letters change nothing', async (t) => {
  for (const space of ['&nbsp;', '\u00a0', '&#160;']) {
    const written = '((IF plan is "big one"))<b>a</b>((ELSE))<b>b</b>((End))'.replaceAll(' ', space);
    t.equal(htmlConditionProblem(written), null, space);
    const content = await buildContent({
      ...{ template_json: null, template_html: written, preheader: '', subject: '', tracking: false, footer: false },
    });
    t.match(mergeHtml(content.html, { plan: 'Big one' }), /^<b>a<\/b>\s*$/, space);
    t.match(mergeHtml(content.html, {}), /^<b>b<\/b>\s*$/, space);
  }
});

t.test('64 kB of hostile text take linear time and find nothing', (t) => {
  for (const part of ['((if ', '((if a = "', '((if a))', '((end))', '((if a and ', '((', '((if a = "x" or '])
    t.equal(typeof mergeText(scan(part.repeat(64_000 / part.length)), {}), 'string', part);
  t.end();
});

t.test('each contact gets the branch that its values choose, three deep, in text, HTML and subject', (t) => {
  const written =
    'Dear ((first_name|you))((if plan = "pro")), thanks((if vip)) a lot((if vip = "gold")) and more((end))((else))!((end))((end)) ((end))';
  const line = (values: Record<string, string>) => mergeText(scan(written), values);
  t.equal(line({ first_name: 'Ann', plan: 'pro', vip: 'gold' }), 'Dear Ann, thanks a lot and more ');
  t.equal(line({ plan: 'pro', vip: 'x' }), 'Dear you, thanks a lot ');
  t.equal(line({ plan: 'pro' }), 'Dear you, thanks! ');
  t.equal(line({ end: 'fin' }), 'Dear you fin', 'outside of a condition it is a merge tag');
  t.equal(
    mergeLine('((if city))News from ((city))((else))News((end))', { city: 'Bonn\nBcc: x' }),
    'News from Bonn Bcc: x',
  );
  t.equal(mergeHtml(scan('((if a = "<"))<b>((a))</b>((end))'), { a: '<' }), '<b>&lt;</b>');
  t.strictSame(placeholderNames([scan(written)]), ['first_name', 'plan', 'vip', 'end']);
  t.end();
});

t.test(
  'a compiled mail has its conditions across elements, and its footer for those who would miss the links',
  async (t) => {
    const source = { template_json: null, preheader: '', subject: 'Hi', tracking: true, footer: true };
    const template_html =
      '<html><body><p>((if plan = &quot;pro&quot;))</p><h1>For pros</h1><a href="https://example.com/pro">Go</a><p>((else))</p><h1>For all</h1><p>((end))</p>' +
      '((if plan))<a href="((unsubscribe_preferences))">Leave</a> ((sender_address))((end))</body></html>';
    const content = await buildContent({ ...source, template_html });
    const values = {
      unsubscribe_preferences: 'https://m.example/u/1',
      sender_address: '1 Street',
      '#click': 'https://m.example/c/1/',
    };
    const pro = mergeHtml(content.html, { ...values, plan: 'pro' });
    const other = mergeHtml(content.html, values);
    t.match(pro, 'For pros');
    t.match(pro, 'href="https://m.example/c/1/0"');
    t.notMatch(pro, 'For all');
    t.match(other, 'For all');
    t.notMatch(other, /For pros|c\/1\/0"|Leave/);
    t.match(other, 'https://m.example/u/1', 'the footer has the link that the condition hides');
    t.equal(mergeText(content.text, { ...values, plan: 'pro' }).split('\n')[0], 'For pros');
    t.equal(mergeText(content.text, values).split('\n')[0], 'For all');
    t.ok(content.placeholders.includes('plan'), 'the value is read');
    await t.rejects(buildContent({ ...source, template_html: '<p>((if plan))</p>' }), /line 1, column 4.*end/);
  },
);

t.test('a campaign goes to each contact with the branches of that contact, in subject, HTML and text', async (t) => {
  const { app, body } = await readyToSend(t);
  const template_html =
    '<p>((if first_name = "ann"))Only Ann <a href="https://example.com/ann">here</a>((else))Dear ((first_name)), not Ann((end))</p>';
  const wrong = await app.one.call('POST', '/single/send/create', {
    form: { ...body, template_html: '<p>a</p>\n((if plan))b', subject: '((if a = ))b((end))' },
  });
  t.equal(wrong.status, 422);
  t.match(wrong.body.errors, { template_html: [/line 2, column 1/], subject: [/line 1, column 1/] });
  const automation = await app.one.call('POST', '/templates/create', {
    form: { name: 'T', subject: 's', template_html: '((if x ))' },
  });
  t.match(automation.body.errors, { template_html: [/end/] }, 'a template too');
  await createSend(app, { ...body, template_html, subject: '((if first_name contains "ob"))Bob((else))Others((end))' });
  app.clock.advance(RECALL);
  await app.background();
  const mails = outboxOf(app);
  const mailTo = (name: string) =>
    mails
      .find(({ envelope_to }) => envelope_to.toLowerCase().startsWith(name))
      ?.raw.toString()
      .replaceAll('=\r\n', '') ?? '';
  t.match(mailTo('ann'), /Only Ann <a href=3D"http[^"]*\/c\//);
  t.match(mailTo('ann'), 'Subject: Others');
  t.notMatch(mailTo('ann'), 'not Ann');
  t.match(mailTo('bob'), 'Dear Bob, not Ann');
  t.match(mailTo('bob'), 'Subject: Bob');
  t.notMatch(mailTo('bob'), 'Only Ann');
});

t.test('an element of a design is shown only to the contacts that it names', async (t) => {
  const show = { 'data-show-to': 'plan = "pro" or age > 17' };
  const text = (content: string, attributes = {}) => ({ tagName: 'mj-text', attributes, content });
  const column = (children: object[], attributes = {}) => ({ tagName: 'mj-column', attributes, children });
  const section = (children: object[], attributes = {}) => ({ tagName: 'mj-section', attributes, children });
  const design = {
    tagName: 'mjml',
    children: [
      {
        tagName: 'mj-body',
        children: [
          section([column([text('for all'), text('block', show)]), column([text('column')], show)]),
          section([column([text('section')])], show),
        ],
      },
    ],
  };
  const template_json = JSON.stringify(design);
  const { html, text: plain } = await buildContent({
    ...{ template_json, template_html: null, preheader: '', subject: 'Hi', tracking: false, footer: false },
  });
  for (const template of [html, plain])
    for (const [values, isShown] of [
      [{ plan: 'pro' }, true],
      [{ age: '18' }, true],
      [{ age: '17' }, false],
    ] as const) {
      const merged = mergeText(template, values);
      t.match(merged, 'for all');
      for (const word of ['block', 'column', 'section'])
        t.equal(new RegExp(`\\b${word}\\s*(<|$)`, 'm').test(merged), isShown, word);
      t.notMatch(merged, /\(\(|data-show/);
    }
  const wrong = template_json.replaceAll('plan = ', 'plan ~ ');
  t.match(String(templateProblem(wrong)), 'is not understood');
});
