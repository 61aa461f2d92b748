/** A form filled in for a recipient: the same bytes as if every piece and every value were written one after the other. */
import fc from 'fast-check';
import t from 'tap';
import { MailData, MailForm } from '../../../src/delivery/mime/mail-data.ts';

const valueAt = (values: readonly string[], number: number | undefined) =>
  number === undefined ? '' : (values[number] ?? '');

const text = fc.string({ unit: fc.constantFrom('a', 'B', '.', ' ', '\r\n'), maxLength: 12 });

t.test(
  'a filled form is its pieces and values in order, whatever their lengths and however often a value occurs',
  async () => {
    const forms = fc.record({
      order: fc.array(fc.constantFrom(0, 1, 1, 1, 1, 2), { maxLength: 40 }),
      pieces: fc.array(text, { minLength: 41, maxLength: 41 }),
      recipients: fc.array(fc.tuple(text, text, text), { minLength: 1, maxLength: 20 }),
      roomy: fc.boolean(),
    });
    fc.assert(
      fc.property(forms, ({ order, pieces, recipients, roomy }) => {
        const fixed = pieces.slice(0, order.length + 1);
        const form = new MailForm(fixed, order);
        const target = Buffer.alloc(roomy ? 2000 : 5, '#');
        return recipients.every((values) => {
          const expected = fixed.map((piece, place) => piece + valueAt(values, order[place])).join('');
          return MailData.filled(form, values, target).bytes.toString('latin1') === expected;
        });
      }),
      { numRuns: 500 },
    );
  },
);

t.test('a value that is no mail text is refused wherever it stands', async (t) => {
  const form = new MailForm(['a', 'a', 'a', 'a', 'a', 'a'], [0, 0, 0, 0, 1]);
  for (const values of [
    ['č', 'b'],
    ['b', 'a\nb'],
    ['b\r', '\nb'],
  ])
    t.throws(() => MailData.filled(form, values), TypeError);
});
