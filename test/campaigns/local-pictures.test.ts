/** Pictures of mails that were designed before there was a public address. */
import t from 'tap';
import { addPerson, callerOf } from '../support/people.ts';
import { createSend, readyToSend } from '../support/single-sends.ts';

const PICTURE = `/pictures/${'0123456789abcdef'.repeat(2)}/hat.png`;

t.test(
  'a picture that was put in while links led to this machine leads to the public address when the mail leaves',
  async (t) => {
    const { app, body } = await readyToSend(t, { PUBLIC_URL: '' });
    const local = ['http://127.0.0.1:3000', 'http://localhost:8080', 'https://[::1]'];
    const others = ['https://pictures.example', 'http://127.0.0.1.evil.example'];
    const pictures = [...local, ...others].map((origin) => `<img src="${origin}${PICTURE}" alt="A hat">`);
    const utr = await createSend(app, {
      ...body,
      template_html: `${pictures.join('')}<a href="http://localhost:8080/">x</a>`,
    });
    const shown = async () => (await app.one.call('GET', `/single-send/mail?utr=${utr}`)).body.message.mail.html;
    t.match(await shown(), local[0], 'there is no public address yet');
    const form = { public_url: 'https://mail.shop.example' };
    t.equal((await callerOf(app, addPerson(app)).call('POST', '/public-address/save', { form })).status, 200);
    await app.one.call('POST', '/single/send/update', {
      form: { ...body, utr, subject: 'New', template_html: pictures.join('') },
    });
    const html: string = await shown();
    t.equal(html.split(`https://mail.shop.example${PICTURE}`).length - 1, local.length);
    for (const origin of local) t.notMatch(html, `${origin}/`);
    for (const origin of others) t.match(html, `${origin}${PICTURE}`, 'what is elsewhere stays');
  },
);
